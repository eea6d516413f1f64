"""View "Rollout": attention of several layers multiplied together."""

from __future__ import annotations

import streamlit as st

from analysis.rollout import check_one_text, rollout
from pages.attention import filters
from pages.attention.numbers import numbers
from pages.attention.scene import Scene, draw_heatmap, summary
from ui import Field, View, count, widgets

FROM_LAYER: Field[int] = Field("from", 1, count("layer"), of="attention")


def draw(scene: Scene) -> None:
    with widgets.controls():
        last = widgets.stepper("layer", scene.run.n_layers, label="Up to layer")
        first = FROM_LAYER.value = min(FROM_LAYER.value, last + 1)
        if last:
            first = widgets.stepper("layer", last + 1, FROM_LAYER, label="From layer") + 1
        scene = filters.ask(scene)
    check_one_text(scene.run)
    flow = rollout(scene.run, first - 1, last, value_weighted=scene.value_weighted)
    shown = scene.filtered(flow)
    if shown.reason is not None:
        summary(shown)
        return
    draw_heatmap(
        shown,
        "rollout",
        "attention-rollout",
        stretch=True,
        what=f"rollout of layers {first} to {last + 1}",
        number="rollout",
    )
    summary(shown)
    if not last:
        st.caption("Choose a higher layer to combine several layers.")
    if scene.run.stack == "decoder":
        st.caption("Only the decoder's attention to its own text is included, not what comes from the encoder.")
    heads = [(layer, head) for layer in range(first - 1, last + 1) for head in range(scene.run.layers[layer].n_heads)]
    numbers(scene, shown, heads, name="attention-rollout", how="rollout")


VIEW = View(
    "rollout",
    "Rollout",
    draw,
    "Attention of several layers multiplied together: which input tokens (columns) could have reached each row.",
    "How much of each input token could have reached a position, if only attention moved information and half of "
    "every layer were the residual connection (Abnar & Zuidema 2020). This models the flow of information; it does "
    "not measure it.",
    fields=(FROM_LAYER,),
    needs=("attention",),
    tab=60,
    terms=("attention rollout",),
)
