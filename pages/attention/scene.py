"""What every view of the page "Attention" is given: a text as a model reads it, and what of its attention is shown."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from analysis.filters import Filter, Filtered
from analysis.heads import HeadTable, head_table
from analysis.words import word_units
from model_zoo.types import ModelInfo, Stack
from pages.attention import examples
from pages.attention.fields import LOCKED, MODEL_PART, SHOWN_VIEW, TOKEN
from ui import HEAD, LAYER, Need, View, as_text, caption, figures, note, notes, widgets
from ui.attended_text import AttendedText
from viz.attended import heatmap_payload
from web.engine import engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene(AttendedText):
    """Each view asks for layer and head by itself."""

    @property
    def all_heads(self) -> HeadTable:
        """All heads measured, once for all views. Raises InvalidInput where there are no words to measure them on."""
        return engine().derived(("all heads measured", *self.run_key), lambda: head_table([self.run]))

    def lacks(self, need: Need) -> str | None:
        """Nothing: a model without attention is refused before the scene is made."""
        assert need == "attention", need
        return None


def make(_view: View[Scene]) -> Scene:
    """Ask for the text and the model, and run it."""
    with widgets.input_line():
        text, pair = widgets.texts()
        model = widgets.model()
        widgets.try_example(examples.EXAMPLES)
    with st.spinner("Running the model …", show_time=True), figures.placeholder_figure():
        scene = Scene(model=model, text=text, pair=pair, stack=_stack(engine().info(model)))
        notes.warn_of_run(scene.run)
    return scene


_ABOUT_STACKS: dict[Stack, str] = {
    "encoder": "The encoder reads the whole text at once: its tokens attend in both directions.",
    "decoder": "The decoder writes one token after another and attends to what it has written so far. It is given "
    "the second text as in training: a start token first, and every token one position later.",
    "cross": "While the decoder writes (rows), it attends to the first text, which the encoder has read (columns). A "
    "row is the token written last, from which the next one is predicted.",
}


def _stack(info: ModelInfo) -> Stack:
    """Whose attention is shown, of a model that has more than one part."""
    if not info.cross_attention:
        if MODEL_PART.value != "encoder":
            MODEL_PART.value = "encoder"
            note("This model has no encoder and decoder to choose from, so its only part is shown.")
        return "encoder"
    with widgets.controls("part"):
        return widgets.choice("Part of the model", MODEL_PART, help=" ".join(_ABOUT_STACKS.values()))


def about_model(scene: Scene) -> None:
    """The caution that belongs beside every picture, and what was read by which model, under every view."""
    st.caption(notes.CAUTION)
    _in_many_sentences(scene)
    _without_this_head(scene)
    notes.about_run(scene.run)


def _in_many_sentences(scene: Scene) -> None:
    """A way to what the same head does over many sentences, of a model's encoder or its only part."""
    if scene.stack == "encoder":
        widgets.page_link(
            "corpus",
            f"On Corpus: layer {LAYER.value}, head {HEAD.value} in a thousand sentences",
            ":material/library_books:",
            model=scene.model,
            layer=LAYER.value,
            head=HEAD.value,
            view="head",
        )


def _without_this_head(scene: Scene) -> None:
    """A way to the page that switches heads off, of a model that has an answer to lose."""
    info, pair = scene.run.model, scene.pair or ""
    answers = info.mlm or info.lm or info.tuned_for == "classification" or (info.nsp is not None and pair)
    if scene.stack != "encoder" or not answers:
        return
    if info.mlm and info.nsp is None:  # there two texts are asked whether one follows, so ask about a mask in the first
        pair = ""
    masks = () if pair else _pointed_at(scene)
    widgets.page_link(
        "cause",
        f"On Cause: what if layer {LAYER.value}, head {HEAD.value} is switched off?",
        ":material/electrical_services:",
        text=scene.text,
        pair=pair,
        model=scene.model,
        off=(f"{LAYER.value}.{HEAD.value}",),
        answer="",
        against="",
        view="heads",
        **({"masks": masks} if masks else {"find": True}),
    )


def _pointed_at(scene: Scene) -> tuple[int, ...]:
    """The tokens of the word of the first text that is kept in the picture, or the query; none where none is."""
    kept = LOCKED.value and SHOWN_VIEW.value in ("grid", "lines")
    if not kept and SHOWN_VIEW.value != "neuron":
        return ()
    words = [unit for unit in word_units(scene.run.encoding) if not unit.special and unit.segment == 0]
    return next((tuple(range(word.start, word.stop)) for word in words if word.start < TOKEN.value <= word.stop), ())


def summary(view: Filtered) -> bool:
    """Say what the filter hides and cuts; False if there is nothing left to draw."""
    if view.reason is not None:
        st.info(as_text(view.reason), icon=":material/filter_alt_off:")
        return False
    if view.filter != Filter():
        caption(view.summary())
    return True


def draw_heatmap(
    scene: Scene, view: Filtered, key: str, name: str, *, stretch: bool, quantity: str = "", number: str = ""
) -> None:
    """A filtered matrix as a heatmap with its tokens; ``name`` is the file name of its image, ``what`` says what its
    numbers are, and ``number`` one of them, in a word, where they are not those of the scene.
    """
    figures.show_heatmap(
        heatmap_payload(
            view,
            scene.measure,
            file=name,
            stretch=stretch,
            quantity=quantity,
            number=number,
            group="attention",
        ),
        key,
    )
