"""The switch "Show": what of a text is looked at in place of attention weights, and what is said of it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from analysis.views import AttentionView, ContributionView, Measure, Norms, Weights
from model_zoo.types import Stack
from ui.field import Field, one_of
from viz.attended import WORDS
from web.engine import engine

ABOUT: Final = "“Show” says what is looked at:\n\n" + "\n".join(
    f"- **{of.title}**. {of.about} {of.lacks}".rstrip() for of in WORDS.values()
)
SHOW: Field[Measure] = Field("show", "weights", one_of("what is shown", {name: of.title for name, of in WORDS.items()}))


def ask() -> Measure:
    """The switch, in a line of controls."""
    chosen: Measure = st.selectbox("Show", **SHOW.bound, width=250)
    return chosen


def compute_maps(
    measure: Measure, model: str, text: str, pair: str | None, *, max_tokens: int, stack: Stack = "encoder"
) -> AttentionView:
    """What is looked at, by this name. The engine remembers it, so asking again costs nothing.

    Raises NotSupported, in a sentence, where a model or one of its parts does not have it.
    """
    if measure == "weights" or measure == "value-weighted":
        run = engine().attend(model, text, pair, max_tokens=max_tokens, stack=stack)
        return Weights(run) if measure == "weights" else Norms(run)
    return ContributionView(engine().contributions(model, text, pair, max_tokens, measure))
