"""A model at work on the home page: where a head looks in a sentence, and what is guessed behind a mask beside it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from model_zoo import DEFAULT_MODEL
from ui import Field, as_text, figures, is_dark, lit_words, page_link, place
from ui.attended_text import AttendedText
from viz.predictions import predictions
from web.engine import engine

SENTENCE: Final = "The cat sat on the mat because it was tired."
LOOKING: Final = {"text": SENTENCE, "pair": "", "model": DEFAULT_MODEL, "layer": 2, "head": 4}
"""The head that looks from “it” to “cat”: what the address of the page Attention sets."""

# The place of the head that is shown among all heads of the model, from 0.
AT_WORK: Field[int] = Field("head", 15, place("the head", 999), of="home")

_GUESSED: Final = "The dogs near the house are hungry."
_HIDDEN: Final = 6  # the token “are”
_GUESSES: Final = 5


def draw() -> None:
    """Draw both beside each other; on a phone one stands under the other."""
    looking, guessing = st.columns([3, 2], gap="large")
    with looking:
        _looking()
    with guessing:
        _guessing()


def _looking() -> None:
    st.markdown("**Where does it look?** Point at a word: the others are shaded by the attention this head gives them.")
    attended = AttendedText(model=DEFAULT_MODEL, text=SENTENCE, pair=None, stack="encoder")
    layer, head = divmod(min(AT_WORK.value, attended.run.n_layers * attended.run.n_heads - 1), attended.run.n_heads)

    def choose(layer: int, head: int) -> None:
        AT_WORK.value = layer * attended.run.n_heads + head

    lit_words.draw(attended, layer, head, choose)


def _guessing() -> None:
    (answer,) = engine().fill_mask(DEFAULT_MODEL, _GUESSED, _GUESSES, masked=(_HIDDEN,))
    hidden = engine().masked_text(DEFAULT_MODEL, _GUESSED, (_HIDDEN,))
    st.markdown(f"**What does it predict?** {as_text(hidden)}")
    figures.show(predictions(answer, dark=is_dark()), "guesses", "guesses")
    page_link(
        "masked_words",
        "Mask your own words",
        ":material/password:",
        text=_GUESSED,
        model=DEFAULT_MODEL,
        masks=(_HIDDEN,),
    )
