"""View "Several heads": mean, maximum, sum or norm of the sum over heads as one heatmap."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from analysis.filters import Combination, Filtered, combine, norm_of_sum
from analysis.views import all_maps, maps_of_layer
from pages.attention import filters, heads
from pages.attention.fields import CHOSEN, SCOPE, SEVERAL
from pages.attention.scene import Scene, draw_heatmap, save_numbers, summary
from ui import Field, View, as_python, one_of, widgets

_HOW: dict[Combination, str] = {"mean": "Mean", "max": "Maximum", "sum": "Sum", "norm": "Norm of the sum"}
HOW: Field[Combination] = Field("how", "mean", one_of("how", _HOW), of="attention")


def draw(scene: Scene) -> None:
    with widgets.controls():
        scene = filters.ask(scene)
        if heads.has_no_heads(scene):
            return
        chosen = heads.ask_heads_to_combine(scene)
        how = widgets.choice("Combine by", HOW, label_visibility="collapsed")
    if how == "norm":
        scene = replace(scene, measure="value-weighted")
    weights = norm_of_sum(scene.run, chosen) if how == "norm" else combine(scene.maps, chosen, how)
    view = scene.filtered(weights)
    if view.reason is not None:
        summary(view)
        return
    combined = "‖Σαf(x)‖" if how == "norm" else f"{_HOW[how].lower()} {scene.words.quantity}"
    draw_heatmap(
        scene,
        view,
        "combined",
        f"attention-{how}",
        stretch=not scene.maps.shares or how == "sum",
        quantity=f"{combined} of {len(chosen)} heads",
        number="‖Σαf(x)‖" if how == "norm" else "",
    )
    summary(view)
    if how == "norm":
        st.caption(
            "What a head passes from one token to another is a vector, αf(x). Here the heads' vectors are added up, "
            "and a cell is the length of the sum (Kobayashi et al. 2020): heads that pull in opposite directions "
            "cancel out. What is chosen under “Show” has no effect here."
        )
    _put_python(scene, view, chosen, how)
    save_numbers(scene, view, chosen, name=f"attention-{how}", how=how)


def _put_python(scene: Scene, view: Filtered, chosen: list[heads.Head], how: Combination) -> None:
    layer = chosen[0][0]
    of_layer = chosen == maps_of_layer(scene.maps, layer)
    if how == "norm":
        some = "" if of_layer else f", {[head for _, head in chosen]}"
        scene.put_python(
            f"run.norms_of_sum(layer{some})",
            lambda: view.weights,
            before=f"layer = {layer}  # layer {layer + 1} on the page\n",
        )
        return
    uses: list[object] = [combine]
    listed = as_python.literal(chosen)
    if of_layer:
        listed, uses = f"maps_of_layer(maps, {layer})  # layer {layer + 1} on the page", [combine, maps_of_layer]
    elif chosen == all_maps(scene.maps):
        listed, uses = "all_maps(maps)", [combine, all_maps]
    scene.put_python(f'combine(maps, heads, "{how}")', lambda: view.weights, *uses, before=f"heads = {listed}\n")


VIEW = View(
    "combined",
    "Several heads",
    draw,
    "Several heads combined: each cell is the mean, the maximum or the sum of their weights.",
    "The norm of the sum is how much one token passes to another through all heads of a layer together.",
    fields=(SCOPE, SEVERAL, CHOSEN, HOW),
    needs=("attention",),
    tab=40,
    terms=("multi-head attention",),
)
