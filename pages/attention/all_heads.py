"""View "All heads": the grid of all layers and heads, and the chosen head as a heatmap."""

from __future__ import annotations

import streamlit as st

from analysis.filters import Filtered
from analysis.thumbnails import thumbnails
from pages.attention import filters, grid, heads, lit_words, sinks
from pages.attention.scene import Scene, draw_heatmap, save_numbers, summary
from ui import SWITCH, Field, View, notes, save, show, widgets
from web.engine import engine

STRETCH: Field[bool] = Field("stretch", False, SWITCH, of="attention")

_LONG = 24  # tokens; from here on the heatmap needs more room than the grid


def draw(scene: Scene) -> None:
    with widgets.controls():
        scene = filters.ask(scene)
        layer, head = heads.ask_head(scene)
        unit = "head" if scene.of_heads else "layer"
        stretch = st.toggle(
            f"Scale colours per {unit}",
            **STRETCH.bound,
            help=f"Colours run to this {unit}'s maximum. Off: one scale for all {unit}s, so they can be compared.",
            disabled=scene.measure in ("value-weighted", "value zeroing"),
        )
    heads.compute(scene)
    if max(scene.run.n_tokens, scene.run.n_keys) > _LONG:
        lit_words.draw(scene, layer, head)
        overview, detail = st.columns([5, 6], gap="medium")
    else:
        overview, detail = st.columns([6, 5], gap="medium")
        with overview:
            lit_words.draw(scene, layer, head)
    with detail:
        view = _one_head(scene, layer, head, stretch)
    with overview:
        _all_heads(scene, layer, head)
    if scene.of_heads:
        with detail:
            sinks.draw(scene, layer, head)
    if view is not None:
        save_numbers(scene, view, [(layer, head)], name=scene.file("attention", layer, head))
        save.html("The words", lambda: lit_words.file(scene, layer, head), scene.file("words", layer, head))


def _one_head(scene: Scene, layer: int, head: int, stretch: bool) -> Filtered | None:
    """Drawn before the grid: it is what a click waits for. None where the filter leaves nothing."""
    view = scene.filtered(scene.maps.map(layer, head))
    if not summary(view):
        return None
    if not scene.of_heads:
        st.caption(f"Layer {layer + 1}, all heads together with the residual stream.")
    name = scene.file("attention", layer, head)
    draw_heatmap(scene, view, "heatmap", name, stretch=stretch or not scene.maps.shares)
    scene.put_map(layer, head, lambda: view.weights)
    return view


def _all_heads(scene: Scene, layer: int, head: int) -> None:
    maps = scene.maps
    # Once per text, model and filter, not again for another head.
    small = engine().derived(
        ("thumbnails", *scene.run_key, scene.filter, scene.measure),
        lambda: thumbnails(
            (scene.filtered(maps.layer(layer)).weights for layer in range(maps.n_layers)), shares=maps.shares
        ),
    )
    if 0 in small.pixels.shape:
        return
    grid.show(scene, small, layer, head)
    if small.pooled:
        st.caption("The text is long: each pixel of a small picture shows the largest weight of a block of tokens.")


VIEW = View(
    "grid",
    "All heads",
    draw,
    "Point at a word, a row or a cell, or tap it: it is highlighted everywhere. A click on a small picture opens that "
    "head.",
    "Words are shaded by the attention that the chosen head gives them from the word you point at. In the pictures "
    "rows are queries and columns keys; there is a small picture for every head of every layer, and the chosen one "
    "is large.\n\n" + show.ABOUT,
    fields=(STRETCH,),
    needs=("attention",),
    tab=10,
    terms=("attention head", "attention weight"),
    left_out=lambda _scene: notes.not_in_link(["the word that you keep lit, its direction, and the mean of heads"]),
)
