"""The switch "Show": what of a text is looked at in place of attention weights, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from analysis.shown import Measure, Norms, OfLayers, Shown, Weights
from model_zoo.types import MOST_ZEROED, Stack
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
        "Of a head: how it divides the attention of each token.",
    ),
    "value-weighted": Words(
        "Weights × values",
        "‖αf(x)‖",
        "‖αf(x)‖",
        "takes",
        "Of a head: the weight times the length of the value that it passes on, ‖αf(x)‖ (Kobayashi et al. 2020); rows "
        "do not sum to 100%. Not for models whose values are not known.",
    ),
    "ALTI": Words(
        "Contributions (ALTI)",
        "contribution (ALTI)",
        "contribution",
        "takes",
        "Of a layer, all heads with the residual stream: the share of each token in a token's vector after attention "
        "(ALTI, Ferrando et al. 2022). Not for models with a decoder beside an encoder, nor for families that are not "
        "known part by part.",
    ),
    "value zeroing": Words(
        "Value zeroing",
        "value zeroing, cosine distance",
        "distance",
        "changes",
        "Of a layer, all heads together: how far a token's new vector turns (cosine distance) when another's value is "
        f"set to zero (Mohebbi et al. 2023). Up to {MOST_ZEROED} tokens; not for models with a decoder beside an "
        "encoder, nor for families that are not known part by part.",
    ),
}
ABOUT = "“Show” says what is looked at:\n\n" + "\n".join(f"- **{of.title}**. {of.about}" for of in WORDS.values())
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
