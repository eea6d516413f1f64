"""Controls for what part of attention is shown; the same on every view."""

from __future__ import annotations

import streamlit as st

from analysis.filters import Filter, Quadrant
from ui import controls, state

_PARTS: dict[Quadrant, str] = {
    "all": "All",
    "A->B": "First looks at second",
    "B->A": "Second looks at first",
    "A->A": "Within first",
    "B->B": "Within second",
}


def attention_filter(has_pair: bool) -> tuple[Filter, bool]:
    """The filter, and whether attention is weighted by value norms. ``has_pair``: two sentences were read as one
    text, between which attention can be told apart.
    """
    if not has_pair and state.QUADRANT.value != "all":
        state.QUADRANT.value = "all"
        st.info(
            "There are no two texts to tell apart here, so all attention is shown.", icon=":material/filter_alt_off:"
        )
    with st.expander("Filters", icon=":material/filter_alt:"):
        part = controls.choice("Part", _PARTS, state.QUADRANT) if has_pair else "all"
        first, second, third = st.columns(3)
        words = first.toggle(
            "Whole words",
            **state.WORDS.bound,
            help="Pieces are merged to words: sum over the keys of a word, mean over its queries.",
        )
        hide = second.toggle(
            "Hide special tokens", **state.HIDE_SPECIAL.bound, help="Such as [CLS] and [SEP], in rows and columns."
        )
        renormalize = third.toggle(
            "Scale rows to 100%",
            **state.RENORMALIZE.bound,
            help="What is left of a row after hiding is scaled to sum 1. Off, the weights stay as they are.",
        )
        threshold = first.slider("Threshold", 0.0, 1.0, step=0.01, **state.THRESHOLD.bound)
        top_k = second.number_input(
            "Strongest keys of each row", min_value=1, **state.TOP_K.bound, placeholder="all", value=None
        )
        value_weighted = third.toggle(
            "Weigh by values: ‖αf(x)‖",
            **state.VALUE_WEIGHTED.bound,
            help="A weight times the length of what it carries: the value vector after the output projection "
            "(Kobayashi et al. 2020). Rows no longer sum to 1.",
        )
    chosen = Filter(
        what=part, hide_special=hide, renormalize=renormalize, threshold=threshold, top_k=top_k, words=words
    )
    return chosen, value_weighted
