"""What every view of the page "Attention" is given: a text as a model reads it, and what of its attention is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from analysis.export import CSV_NOTE, How, Origin, to_csv, to_npz
from analysis.filters import Filter, Filtered, apply_filter
from analysis.heads import HeadTable, head_table
from analysis.views import AttentionView, ContributionView, Measure, Norms, Weights, maps_of_layer
from analysis.words import word_units
from model_zoo.types import AttentionRun, FloatArray, ModelInfo, Stack
from pages.attention import examples
from pages.attention.fields import LOCKED, MODEL_PART, SHOWN_VIEW, TOKEN
from ui import HEAD, LAYER, Need, View, as_python, as_text, caption, figures, note, notes, save, show, widgets
from ui.as_python import Lines
from viz import attended
from viz.attended import LONGEST
from viz.standalone import standalone_html
from web.engine import engine

# One row per cell: larger matrices make files that no spreadsheet opens, and NPZ holds them exactly.
_MOST_CSV_CELLS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One text, or two, the ``measure`` that its maps show, and their filter. Views ask for layer and head."""

    model: str
    text: str
    pair: str | None
    stack: Stack
    filter: Filter = field(default_factory=Filter)
    measure: Measure = "weights"

    @property
    def run(self) -> AttentionRun:
        """The engine remembers its runs, so asking again costs nothing and no session holds one in memory."""
        return engine().attend(self.model, self.text, self.pair, max_tokens=LONGEST, stack=self.stack)

    @property
    def run_key(self) -> tuple[object, ...]:
        """What tells its run from others, for what is remembered of it."""
        run = self.run
        return run.model.id, run.model.revision, run.stack, *self.texts.values(), run.n_tokens, run.n_keys

    @property
    def maps(self) -> AttentionView:
        """The maps of its measure. Raises NotSupported if this model, or this part of it, has no such measure."""
        return show.compute_maps(self.measure, self.model, self.text, self.pair, max_tokens=LONGEST, stack=self.stack)

    @property
    def of_heads(self) -> bool:
        """Whether every head has a map of its own."""
        return attended.has_head_maps(self.measure)

    @property
    def words(self) -> attended.Words:
        """What is said of the numbers."""
        return attended.WORDS[self.measure]

    @property
    def texts(self) -> dict[str, str]:
        """What was read and written, by name, for files."""
        run = self.run
        if run.source is None:
            return {"Text": run.encoding.text, "Second text": run.encoding.text_pair or ""}
        stack = {"decoder": "decoder", "cross": "cross-attention"}[run.stack]
        return {"Part of the model": stack, "Text": run.source.text, "Written by the decoder": run.encoding.text}

    def filtered(self, weights: FloatArray) -> Filtered:
        """The filter applied to weights (..., n, m) of the run's tokens."""
        return apply_filter(self.run.encoding, weights, self.filter, self.run.key_encoding)

    @property
    def arguments(self) -> str:
        """The arguments by which lines of Python ask the engine about what is read."""
        most = LONGEST if max(self.run.n_tokens, self.run.n_keys) == LONGEST else None  # else the model's own limit
        return as_python.arguments(self.model, self.text, self.pair, max_tokens=most)

    def put_map(self, layer: int, number: int, shows: Callable[[], FloatArray]) -> None:
        """Put lines of Python that compute one map, both from 0."""
        name = self.called(layer, number)
        if self.of_heads:
            call = "run.head" if self.measure == "weights" else "maps.map"
            before = f"layer, head = {layer}, {number}  # {name} on the page\n"
            self.put_python(f"{call}(layer, head)", shows, before=before)
        else:
            self.put_python("maps.map(layer, 0)", shows, before=f"layer = {layer}  # {name} on the page\n")

    def put_python(
        self,
        numbers: str,
        shows: Callable[[], FloatArray | pd.DataFrame],
        *uses: object,
        before: str = "",
        after: str = "",
    ) -> None:
        """Put lines of Python that compute ``numbers``, an expression of the ``maps`` and, if every head has a map of
        its own, of the ``run``. The maps are a table, or (..., n, m) to be filtered into a ``view``. Lines ``before``
        the expression may bind names that it uses; those ``after`` it can use ``numbers``.
        """
        kind = {"weights": Weights, "value-weighted": Norms}.get(self.measure, ContributionView)
        lines = Lines("")
        if self.of_heads:
            stack = f', stack="{self.stack}"' if self.stack != "encoder" else ""
            lines += f"run = engine.attend({self.arguments}{stack})\n"
            read, of = "run", "run"
        else:
            read, of = "maps", f'engine.contributions({self.arguments}, measure="{self.measure}")'
        if read == "maps" or re.search(r"\bmaps\b", before + numbers):
            lines += Lines(f"maps = {kind.__name__}({of})\n", (kind,))
        lines += before
        if self.filter == Filter():
            lines += f"numbers = {numbers}\n"
        else:
            keys = ", run.key_encoding" if self.stack == "cross" else ""
            lines += Lines(
                f"kept = {as_python.literal(self.filter)}\n"
                f"view = apply_filter({read}.encoding, {numbers}, kept{keys})\n"
                "numbers = view.weights\n",
                (Filter, apply_filter),
            )
        as_python.put(lines + after, shows, *uses)

    def called(self, layer: int, number: int) -> str:
        """What a map is called: "layer 3, head 5", or "layer 3" where there is one of all heads together."""
        return attended.map_name(self.measure, layer, number)

    def file(self, name: str, layer: int, number: int) -> str:
        """The name of a file about a map: "attention_L3H5", or "attention_L3"."""
        return attended.file_name(self.measure, name, layer, number)

    def standalone(
        self, source: Mapping[str, str], payload: Mapping[str, Any], how: str, view: Filtered, maps: Mapping[str, str]
    ) -> str:
        """An HTML file that works by itself: a component's ``payload`` of a view, with ``how`` it is read in its title,
        and what its ``maps`` are called.
        """
        model = {"Model": self.run.model.id, "Revision": self.run.model.revision}
        return standalone_html(
            source,
            payload,
            title=f"{self.words.title}, {how}",
            caption=view.summary(),
            meta={**model, **maps, **self.texts, "Numbers": self.words.quantity},
        )

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
    """A filtered matrix as ``heatmap_payload`` has it; ``name`` is the file name of its image."""
    payload = attended.heatmap_payload(
        view, scene.measure, file=name, stretch=stretch, quantity=quantity, number=number, group="attention"
    )
    figures.show_heatmap(payload, key)


def save_numbers(
    scene: Scene, view: Filtered, heads: Sequence[tuple[int, int]], *, name: str, how: How | None = None
) -> None:
    """The numbers on screen can be saved; the files are made when they are asked for.

    ``heads`` are those whose maps were made one ``how``; without it the maps shown themselves, of heads or of layers.
    """
    run = scene.run
    if how is None:
        how = "each" if scene.of_heads else "layer"
        if how == "layer":
            heads = [head for layer, _ in heads for head in maps_of_layer(Weights(run), layer)]
    origin = Origin(model=run.model, heads=tuple(heads), how=how, measure=scene.measure, stack=run.stack)
    too_large = view.weights.size > _MOST_CSV_CELLS
    save.file(
        "Numbers (CSV)",
        lambda: to_csv(view, origin),
        name,
        "csv",
        "More than a million cells: use the NPZ." if too_large else CSV_NOTE,
        disabled=too_large,
    )
    save.file(
        "Numbers (NPZ)",
        lambda: to_npz(view, origin, run.encoding, run.source),
        name,
        "npz",
        "For NumPy: the weights in float32 with tokens, model, revision, heads and filter.",
    )
