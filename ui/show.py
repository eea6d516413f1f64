"""The switch "Show": what of a text is looked at in place of attention weights, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from analysis.shown import Measure, Norms, Shown, Weights
from model_zoo.types import Stack
from ui.field import Field, one_of
from viz.lit_words import Says
from web.engine import engine


@dataclass(frozen=True, slots=True)
class Words:
    """``title`` is what the switch calls a measure, ``what`` what its numbers are on a colour bar, ``number`` one of
    them, in a word. ``says`` is what a word that lights up does, ``about`` what is measured, whether it belongs to
    heads or layers, and where it is not there.
    """

    title: str
    what: str
    number: str
    says: Says
    about: str


WORDS: dict[Measure, Words] = {
    "weights": Words(
        "Weights",
        "attention weight",
        "weight",
        "attends",
        "For each head: how it divides the attention of a token.",
    ),
    "norms": Words(
        "Weights × values",
        "‖αf(x)‖",
        "‖αf(x)‖",
        "takes",
        "For each head: the weight times the length of the value that it passes on, ‖αf(x)‖ (Kobayashi et al. 2020). "
        "Rows do not sum to 100%. Not for models whose values are not known.",
    ),
}
SHOW: Field[Measure] = Field("show", "weights", one_of("what is shown", {name: of.title for name, of in WORDS.items()}))


def ask() -> Measure:
    """The switch, in a line of controls."""
    help = "\n".join(f"- **{of.title}**: {of.about}" for of in WORDS.values())
    chosen: Measure = st.selectbox("Show", **SHOW.bound, help=help, width=260)
    return chosen


def shown(
    measure: Measure, model: str, text: str, pair: str | None, *, max_tokens: int, stack: Stack = "encoder"
) -> Shown:
    """What is looked at, by this name. The engine remembers it, so asking again costs nothing.

    Raises NotSupported, in a sentence, where a model or one of its parts does not have it.
    """
    run = engine().attend(model, text, pair, max_tokens=max_tokens, stack=stack)
    return Norms(run) if measure == "norms" else Weights(run)
