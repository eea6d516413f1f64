"""Controls for what is shown, and what part of it; the same in every view that has them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from analysis.filters import Filter
from pages.attention import fields
from pages.attention.scene import Scene
from ui import show, widgets


def ask(scene: Scene) -> Scene:
    """The switch "Show" and a button in a line of controls. The scene with what is shown, and the filter."""
    measure = show.ask()
    # Two sentences that were read as one text, between which attention can be told apart.
    has_pair = scene.pair is not None and scene.stack == "encoder"
    if not has_pair and fields.DIRECTION.value != "all":
        fields.DIRECTION.value = "all"
        st.info("There is only one text here, so all attention is shown.", icon=":material/filter_alt_off:")
    n_set = sum(field.value != field.default for field in fields.FILTERS)
    with widgets.popover(f"Filters ({n_set})" if n_set else "Filters", ":material/filter_alt:"):
        direction = widgets.choice("Direction", fields.DIRECTION) if has_pair else "all"
        words = st.toggle(
            "Whole words",
            **fields.WORDS.bound,
            help="Pieces are merged into words: sum over the keys of a word, mean over its queries.",
        )
        hide = st.toggle(
            "Hide special tokens", **fields.HIDE_SPECIAL.bound, help="Such as [CLS] and [SEP], in rows and columns."
        )
        renormalize = st.toggle(
            "Scale rows to 100%",
            **fields.RENORMALIZE.bound,
            help="What is left of a row after hiding is rescaled to sum to 1. Off: the weights stay the same.",
        )
        threshold = st.slider("Threshold", **fields.THRESHOLD.bound)
        top_k = st.number_input("Strongest keys of each row", **fields.TOP_K.bound, placeholder="all")
    chosen = Filter(
        direction=direction, hide_special=hide, renormalize=renormalize, threshold=threshold, top_k=top_k, words=words
    )
    return replace(scene, measure=measure, filter=chosen)
