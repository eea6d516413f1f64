"""Choosing heads to draw together: one, those of a layer, some by name, or all of them."""

from __future__ import annotations

import streamlit as st

from ui import widgets
from ui.attention.fields import CHOSEN, SCOPE
from ui.attention.scene import Scene

_SCOPES = {"head": "One head", "layer": "Its layer", "chosen": "Chosen heads", "all": "All heads"}
_SEVERAL = {"layer": "A layer", "chosen": "Chosen heads", "all": "All heads"}


def one_or_more(scene: Scene) -> tuple[list[tuple[int, int]], int | None]:
    """Controls for the heads to draw together, in a line of controls: the head chosen alone, or more behind it.

    Returns (layer, head) from 0, possibly none, and the place among them of the head that is chosen, None where there
    is no such head.
    """
    scope = widgets.choice("Heads", _SCOPES, SCOPE, label_visibility="collapsed")
    if scope == "chosen":
        return _by_name(scene), None
    layer, head = widgets.head(scene.run)
    if scope == "head":
        return [(layer, head)], 0
    heads = _of_layer(scene, layer) if scope == "layer" else _all(scene)
    return heads, heads.index((layer, head))


def several(scene: Scene) -> list[tuple[int, int]]:
    """Controls for heads that are put together, in a line of controls; (layer, head) from 0, possibly none."""
    if SCOPE.value == "head":
        SCOPE.value = "layer"  # there is nothing to put together of a single one
    scope = widgets.choice("Heads", _SEVERAL, SCOPE, label_visibility="collapsed")
    if scope == "all":
        return _all(scene)
    return _of_layer(scene, widgets.layer(scene.run)) if scope == "layer" else _by_name(scene)


def _of_layer(scene: Scene, layer: int) -> list[tuple[int, int]]:
    return [(layer, head) for head in range(scene.run.layers[layer].n_heads)]


def _all(scene: Scene) -> list[tuple[int, int]]:
    return [head for layer in range(scene.run.n_layers) for head in _of_layer(scene, layer)]


def _by_name(scene: Scene) -> list[tuple[int, int]]:
    names = [f"{layer + 1}.{head + 1}" for layer, head in _all(scene)]
    known = [name for name in CHOSEN.value if name in names]
    if len(known) < len(CHOSEN.value):
        st.warning("The link names heads that this model does not have; they were left out.")
    CHOSEN.value = tuple(known)
    chosen = st.multiselect(
        "Layer.head", names, **CHOSEN.bound, placeholder="Choose heads, such as 3.7", label_visibility="collapsed"
    )
    return [(int(layer) - 1, int(head) - 1) for layer, head in (name.split(".") for name in chosen)]
