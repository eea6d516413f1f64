"""What an example of the page "Attention" shows, in a sentence, as long as its state is on the screen."""

from __future__ import annotations

import streamlit as st

from model_zoo.types import AttentionRun
from ui import examples, state
from ui.messages import as_text, enumerated


def draw(run: AttentionRun) -> None:
    """The weights that the example is about, as the model at hand has them."""
    example = examples.ATTENTION.on_screen()
    if example is None:
        return
    layer, head = state.LAYER.value, state.HEAD.value
    weights, tokens = run.head(layer - 1, head - 1), run.encoding.tokens

    def named(place: int) -> str:
        token = tokens[place - 1]
        return f"“{token}”" if tokens.count(token) == 1 else f"“{token}” (token {place})"

    shares = [
        f"{weights[query - 1, key - 1]:.0%} of what {named(query)} looks at is {named(key)}"
        for query, key in example.looks
    ]
    st.markdown(as_text(f"In layer {layer}, head {head}, {enumerated(shares)}."))
