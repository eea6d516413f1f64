"""View "Rollout": attention of several layers multiplied together."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from analysis.rollout import check_one_text, rollout
from analysis.views import Weights, maps_of_layer
from pages.attention import filters, heads
from pages.attention.scene import Scene, draw_heatmap, save_numbers, summary
from ui import Field, View, count, failures_as_messages, widgets

_WITHOUT_HALF = {
    True: "Contributions hold the residual stream already, so no half is mixed in for it.",
    False: "As in the authors' code, no half is mixed in for the residual stream: what tokens keep by it is left out.",
}

FROM_LAYER: Field[int] = Field("from", 1, count("layer"), of="attention")


def draw(scene: Scene) -> None:
    with widgets.controls():
        scene = filters.ask(scene)
        last = widgets.stepper("layer", scene.run.n_layers, label="Up to layer")
        first = FROM_LAYER.value = min(FROM_LAYER.value, last + 1)
        if last:
            first = widgets.stepper("layer", last + 1, FROM_LAYER, label="From layer") + 1
    heads.describe_measure(scene)
    check_one_text(scene.run)
    plain = replace(scene, measure="weights")
    beside = [scene] if scene == plain else [scene, plain]
    for variant, place in zip(beside, st.columns(len(beside), gap="medium"), strict=True):
        with place, failures_as_messages():
            if variant is not scene or len(beside) > 1:
                st.markdown(f"**Over {variant.words.title[0].lower()}{variant.words.title[1:]}**")
            _draw_rollout(variant, first - 1, last, numbered=variant is scene)
    if not last:
        st.caption("Choose a higher layer to combine several layers.")
    if scene.run.stack == "decoder":
        st.caption("Only the decoder's attention to its own text is included, not what comes from the encoder.")


def _draw_rollout(scene: Scene, first: int, last: int, *, numbered: bool) -> None:
    """The rollout of what is shown from a layer up to another, both from 0."""
    with st.spinner("Computing …", show_time=True):
        view = scene.filtered(rollout(scene.maps, first, last))
    if view.reason is not None:
        summary(view)
        return
    name = "rollout" if scene.measure == "weights" else f"rollout {scene.measure}"
    draw_heatmap(
        scene,
        view,
        name,
        f"attention-{name.replace(' ', '-')}",
        stretch=True,
        quantity=f"rollout of layers {first + 1} to {last + 1}",
        number="rollout",
    )
    summary(view)
    if scene.maps.of_block:
        st.caption(_WITHOUT_HALF[scene.maps.shares])
    if numbered:
        scene.put_python(
            "rollout(maps, first, last)",
            lambda: view.weights,
            before=f"first, last = {first}, {last}  # layers {first + 1} to {last + 1} on the page\n",
        )
        weights = Weights(scene.run)
        rolled = [head for layer in range(first, last + 1) for head in maps_of_layer(weights, layer)]
        save_numbers(scene, view, rolled, name="attention-rollout", how="rollout")


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
    terms=("attention rollout", "ALTI", "value zeroing"),
)
