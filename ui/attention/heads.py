"""Choosing several heads: those of a layer, some by name, or all of them."""

from __future__ import annotations

import streamlit as st

from ui import widgets
from ui.attention.fields import CHOSEN, SCOPE
from ui.attention.scene import Scene

_SCOPES = {"layer": "A layer", "chosen": "Chosen heads", "all": "All heads"}


def several(scene: Scene) -> list[tuple[int, int]]:
    """Controls for the heads to draw together; (layer, head) from 0, possibly none."""
    scope = widgets.choice("Heads", _SCOPES, SCOPE)
    layers = range(scene.run.n_layers)
    if scope == "all":
        return [(layer, head) for layer in layers for head in range(scene.run.layers[layer].n_heads)]
    if scope == "layer":
        layer = widgets.layer(scene.run)
        return [(layer, head) for head in range(scene.run.layers[layer].n_heads)]
    names = [f"{layer + 1}.{head + 1}" for layer in layers for head in range(scene.run.layers[layer].n_heads)]
    known = [name for name in CHOSEN.value if name in names]
    if len(known) < len(CHOSEN.value):
        st.warning("The link names heads that this model does not have; they were left out.")
    CHOSEN.value = tuple(known)
    chosen = st.multiselect("Layer.head", names, **CHOSEN.bound, placeholder="Choose heads, such as 3.7")
    return [(int(layer) - 1, int(head) - 1) for layer, head in (name.split(".") for name in chosen)]
