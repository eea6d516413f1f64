"""View "Rollout": attention of several layers multiplied together."""

from __future__ import annotations

import streamlit as st

from analysis.rollout import check_one_text, rollout
from ui import controls, downloads, state
from ui.attention.scene import Scene, draw_heatmap, summary


def draw(scene: Scene) -> None:
    check_one_text(scene.run)
    if scene.run.part == "decoder":
        st.caption("Only the decoder's look at its own text is followed; what comes in from the encoder is left out.")
    to_place, from_place, _ = st.columns([1, 1, 4], vertical_alignment="bottom")
    last = controls.layer(scene.run, to_place, "Up to layer")
    first = state.FROM_LAYER.value = min(state.FROM_LAYER.value, last + 1)
    if last:
        first = int(from_place.number_input("From layer", 1, last + 1, **state.FROM_LAYER.bound))
    else:
        st.caption("Choose a higher layer to roll attention out through several.")
    flow = rollout(scene.run, first - 1, last, value_weighted=scene.value_weighted)
    shown = scene.filtered(flow)
    if not summary(shown):
        return
    draw_heatmap(
        shown,
        "rollout",
        "attention-rollout",
        stretch=True,
        what=f"rollout of layers {first} to {last + 1}",
    )
    heads = [(layer, head) for layer in range(first - 1, last + 1) for head in range(scene.run.layers[layer].n_heads)]
    downloads.numbers(scene, shown, heads, name="attention-rollout", how="rollout")
