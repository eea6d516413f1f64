"""What every view of the page "Masked words" is given: a text as a model reads it, and the words to hide from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.agreement import readable
from analysis.words import Unit, token_units, word_units
from model_zoo.text import foreign_mask
from model_zoo.types import Encoding, FloatArray, MaskPrediction, ModelInfo, Vocabulary
from pages.masked_words.fields import EXAMPLES, WORDS
from ui import MASKS, TEXT, Need, View, address, as_python, as_text, caption, lacking, mask_strip, note, notes, widgets
from ui.as_python import Lines
from ui.mask_strip import MaskedText
from viz.layout import percent
from web.engine import engine

EXAMPLE = EXAMPLES.state(EXAMPLES.all[0])
_SENT = "masked_words_sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene(MaskedText):
    """``units`` are the words or tokens that can be clicked.

    A causal model has no masks: it guesses what comes next, from what came before.
    """

    vocabulary: Vocabulary
    units: tuple[Unit, ...]

    @property
    def causal(self) -> bool:
        return self.info.lm

    @property
    def text(self) -> str:
        return self.encoding.text

    def lacks(self, need: Need) -> str | None:
        """A causal model lacks no mask: it predicts the next token without one."""
        assert need in ("mlm", "mask"), need
        if need == "mlm" and not self.causal:
            return engine().why_not(self.model, "mlm")
        if need == "mlm":
            return (
                "This model reads from left to right and cannot fill masks. Try Predictions, Layer by layer, How "
                "surprising or Minimal pairs, or choose a model with a masked-word head."
            )
        if need == "mask" and not self.causal and not self.masks:
            mask_token = self.vocabulary.mask_token or "[MASK]"
            return f"Nothing is masked yet. Click a word above, or type {mask_token} into the text."
        if need == "mask" and not self.causal:
            return mask_strip.too_many(len(self.masks))
        return None

    def put_python(self, lines: Lines | str, shows: Callable[[], FloatArray | pd.DataFrame], *uses: object) -> None:
        """Put lines of Python that compute ``numbers`` of ``model`` and ``text``, with what is masked at {hidden}."""
        lines = lines if isinstance(lines, Lines) else Lines(lines)
        first = f"model, text = {as_python.arguments(self.model, self.text)}\n"
        if self.masked and "{hidden}" in lines.text:
            tokens = as_python.arguments(*(self.encoding.tokens[place] for place in self.masked))
            first += f"masked = {list(self.masked)}  # {tokens}\n"
        rest = lines.text.replace("{hidden}", ", masked=masked" if self.masked else "")
        as_python.put(first + rest, shows, *lines.uses, *uses)

    def row(self, *, switch: bool = True, example: bool = True) -> DeltaGenerator | None:
        """The words to click on, and the line of controls beside them, which begins with the ``switch`` between words
        and tokens; a model without masks has no such words. None where nothing is masked, or too much, which it says;
        below the former it draws an ``example``.
        """
        if self.example:
            return widgets.controls("example")
        if self.causal:
            caption(
                "This model has no mask. It predicts what comes next from what came before, never from what follows."
            )
            return widgets.controls()
        controls = self.ask_words(self.units, MASKS)
        if switch:
            with controls:
                ask_whole_words()
        if not lacking(self, ("mask",)):
            return controls
        if example:
            self.draw_example()
        return None

    def draw_example(self) -> None:
        """The view of the first example, as the same model reads it, where nothing is masked."""
        if self.masks:
            return
        encoding = engine().encode(self.model, EXAMPLE[TEXT])
        self.draw_instead(
            replace(self, encoding=encoding, masked=EXAMPLE[MASKS], typed=(), units=_units(encoding), example=True)
        )

    def sentence(self, answer: MaskPrediction) -> str:
        """The top prediction for a mask and the original word, in a sentence, as plain text."""
        best = answer.best[0]
        sentence = f"Top prediction “{readable(best.token)}” ({percent(best.probability)})"
        if answer.original is not None:
            sentence += f"; original “{readable(answer.original.token)}”"
        number = f"Mask {self.masks.index(answer.position) + 1}: " if len(self.masks) > 1 else ""
        return f"{number}{sentence}."


def ask_whole_words() -> None:
    """Ask whether a word is one or its pieces are."""
    st.toggle(
        "Whole words",
        **WORDS.bound,
        help="On: a word of several tokens counts as one. Off: each token counts by itself.",
    )


def make(view: View[Scene]) -> Scene:
    """Ask for the text and the model; which words to hide is asked by the views."""
    _restore_sent()
    widgets.open_with_first(EXAMPLES, (TEXT, MASKS), (MASKS,))
    with widgets.input_line():
        text, _ = widgets.texts(second=False)
        model = widgets.model()
        widgets.try_example(EXAMPLES)
    with st.spinner("Loading the model …", show_time=True):
        info = engine().info(model)
    return _hide(info, text, view)


def remember_sent(scene: Scene, written: str) -> None:
    """Remember the original words of the masks that links to other pages write out in the text, as ``written``."""
    st.session_state[_SENT] = written, scene.text, scene.masked


def _restore_sent() -> None:
    sent = st.session_state.get(_SENT)
    if sent is not None and TEXT.value == sent[0]:
        _, text, masked = sent
        address.put({TEXT: text, MASKS: masked})
    st.session_state[_SENT] = None


def _hide(info: ModelInfo, text: str, view: View[Scene]) -> Scene:
    """The text as the model reads it, and the words to hide, moved along with it where it was edited."""
    encoding = engine().encode(info.id, text)
    vocabulary = engine().vocabulary(info.id)
    _warn(info.id, encoding, vocabulary, text)
    masked, typed = ((), ()) if info.lm else mask_strip.masks_of(encoding, vocabulary.mask_id, MASKS)
    return Scene(
        info=info,
        encoding=encoding,
        masked=masked,
        typed=typed,
        vocabulary=vocabulary,
        units=_units(encoding),
        view=view,
    )


def _units(encoding: Encoding) -> tuple[Unit, ...]:
    return tuple(unit for unit in (word_units if WORDS.value else token_units)(encoding) if not unit.special)


def _warn(model: str, encoding: Encoding, vocabulary: Vocabulary, typed: str) -> None:
    mask_token = vocabulary.mask_token
    if mask_token is not None and (foreign := foreign_mask(typed, mask_token)):
        st.warning(as_text(foreign), icon=":material/edit:")
    if mask_token not in (None, "[MASK]") and "[MASK]" in typed:
        note(f"[MASK] was read as {mask_token}, this model's mask.")
    notes.warn_of_reading(encoding, model, masks=True)
