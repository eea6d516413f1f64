"""View "Rollout": attention of several layers multiplied together."""

from __future__ import annotations

import streamlit as st

from analysis.rollout import check_one_text, rollout
from ui import downloads, state
from ui.attention.scene import Scene, draw_heatmap, summary


def draw(scene: Scene) -> None:
    check_one_text(scene.run)
    if scene.run.part == "decoder":
        st.caption("Only the decoder's look at its own text is followed; what comes in from the encoder is left out.")
    first = state.FROM_LAYER.value = min(state.FROM_LAYER.value, scene.layer + 1)
    if scene.layer:
        first = st.number_input(
            f"From layer (up to layer {scene.layer + 1}, chosen above)", 1, scene.layer + 1, **state.FROM_LAYER.bound
        )
    else:
        st.caption("Choose a higher layer above to roll attention out through several.")
    flow = rollout(scene.run, int(first) - 1, scene.layer, value_weighted=scene.value_weighted)
    shown = scene.filtered(flow)
    if not summary(shown):
        return
    draw_heatmap(
        shown,
        "rollout",
        "attention-rollout",
        stretch=True,
        what=f"rollout of layers {first} to {scene.layer + 1}",
    )
    heads = [
        (layer, head)
        for layer in range(int(first) - 1, scene.layer + 1)
        for head in range(scene.run.layers[layer].n_heads)
    ]
    downloads.numbers(scene, shown, heads, name="attention-rollout", how="rollout")
