"""The switch "Show": what of a text is looked at in place of attention weights, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

from analysis.shown import Measure, Norms, OfLayers, Shown, Weights
from model_zoo.types import MOST_ZEROED, Stack
from ui.field import Field, one_of
from viz.lit_words import Says
from web.engine import engine


@dataclass(frozen=True, slots=True)
class Words:
    """``title`` is what the switch calls a measure, ``what`` what its numbers are on a colour bar, ``number`` one of
    them, in a word. ``says`` is what a word that lights up does, ``about`` what is measured, and whether of heads or
    layers, and ``lacks`` where it is not there.
    """

    title: str
    what: str
    number: str
    says: Says
    about: str
    lacks: str = ""


_UNKNOWN: Final = "for models with a decoder beside an encoder, nor for families that are not known part by part."

WORDS: dict[Measure, Words] = {
    "weights": Words(
        "Weights",
        "attention weight",
        "weight",
        "attends",
        "For each head: how it divides the attention of each token.",
    ),
    "value-weighted": Words(
        "Weights × values",
        "‖αf(x)‖",
        "‖αf(x)‖",
        "takes",
        "For each head: the weight times the length of the value that it passes on, ‖αf(x)‖ (Kobayashi et al. 2020). "
        "Rows do not sum to 100%.",
        "Not for models whose values are not known.",
    ),
    "ALTI": Words(
        "Contributions (ALTI)",
        "contribution (ALTI)",
        "contribution",
        "takes",
        "For each layer, all heads and the residual stream together: how much of a token’s vector after attention came "
        "from each token (ALTI, Ferrando et al. 2022).",
        f"Not {_UNKNOWN}",
    ),
    "value zeroing": Words(
        "Value zeroing",
        "value zeroing, cosine distance",
        "distance",
        "changes",
        "For each layer, all heads together: how far the vector of a token turns (cosine distance) when the value of "
        "another token is set to zero (Mohebbi et al. 2023).",
        f"Up to {MOST_ZEROED} tokens. Not {_UNKNOWN}",
    ),
}
ABOUT: Final = "“Show” says what is looked at:\n\n" + "\n".join(
    f"- **{of.title}**. {of.about} {of.lacks}".rstrip() for of in WORDS.values()
)
SHOW: Field[Measure] = Field("show", "weights", one_of("what is shown", {name: of.title for name, of in WORDS.items()}))


def ask() -> Measure:
    """The switch, in a line of controls."""
    chosen: Measure = st.selectbox("Show", **SHOW.bound, width=250)
    return chosen


def shown(
    measure: Measure, model: str, text: str, pair: str | None, *, max_tokens: int, stack: Stack = "encoder"
) -> Shown:
    """What is looked at, by this name. The engine remembers it, so asking again costs nothing.

    Raises NotSupported, in a sentence, where a model or one of its parts does not have it.
    """
    if measure == "weights" or measure == "value-weighted":
        run = engine().attend(model, text, pair, max_tokens=max_tokens, stack=stack)
        return Weights(run) if measure == "weights" else Norms(run)
    return OfLayers(engine().contributions(model, text, pair, max_tokens, measure))
