"""Choosing heads to draw together, one, those of its layer, some by name, or all; and opening one that a view found."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from analysis.views import all_maps, maps_of_layer
from pages.attention.fields import CHOSEN, SCOPE, SEVERAL, SHOWN_VIEW
from pages.attention.scene import Scene
from ui import caption, widgets
from ui.widgets import select_head
from viz.attended import Head

_OPENED = "head_opened_elsewhere"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The heads to draw, and the one in front of the others, if any."""

    heads: list[Head]
    front: Head | None


def describe_measure(scene: Scene) -> None:
    """What is shown in place of attention weights, in a sentence under the controls."""
    if scene.measure != "weights":
        caption(scene.words.about)


def compute(scene: Scene) -> None:
    """What is shown, in a sentence, computed before any picture of it. Raises as ``AttendedText.maps`` does."""
    describe_measure(scene)
    with st.spinner("Computing …", show_time=True):
        _ = scene.maps


def has_no_heads(scene: Scene) -> bool:
    """Whether what is shown belongs to whole layers, of which a view of heads says that there is nothing to see."""
    if not scene.of_heads:
        st.info(
            f"“{scene.words.title}” belongs to a layer, all of its heads together, so there are no heads to choose "
            "from here. Choose “Weights” or “Weights × values”, or look at it under “All heads”.",
            icon=":material/filter_alt_off:",
        )
    return not scene.of_heads


def ask_head(scene: Scene) -> Head:
    """Controls for a head, or for a layer where that is shown as a whole, in a line of controls."""
    return widgets.head(scene.run) if scene.of_heads else (widgets.stepper("layer", scene.run.n_layers), 0)


def ask_heads_to_combine(scene: Scene) -> list[Head]:
    """Controls for the heads to combine, in a line of controls; possibly none."""
    if SEVERAL.value is None:  # older links say it by the scope of “Lines”; one head has nothing to be combined with
        SEVERAL.value = SCOPE.value if SCOPE.value in SEVERAL.labels else "layer"
    scope = widgets.choice("Heads", SEVERAL)
    if scope == "layer":
        return maps_of_layer(scene.maps, widgets.stepper("layer", scene.run.n_layers))
    return _named(scene) if scope == "chosen" else all_maps(scene.maps)


def ask_heads_to_draw(scene: Scene) -> Chosen:
    """Controls for a head, and for those to draw behind it, in a line of controls; without it for heads by name. Only
    for a layer where that is shown as a whole.
    """
    if not scene.of_heads:
        return Chosen([layer := ask_head(scene)], layer)
    scope = widgets.choice("Heads", SCOPE)
    if scope == "chosen":
        return Chosen(_named(scene), None)
    front = widgets.head(scene.run)
    if scope == "head":
        return Chosen([front], front)
    return Chosen(maps_of_layer(scene.maps, front[0]) if scope == "layer" else all_maps(scene.maps), front)


def _named(scene: Scene) -> list[Head]:
    names = [f"{layer + 1}.{head + 1}" for layer, head in all_maps(scene.maps)]
    known = [name for name in CHOSEN.value if name in names]
    if len(known) < len(CHOSEN.value):
        st.warning("The link names heads that this model does not have; they were ignored.")
    CHOSEN.value = tuple(known)
    chosen = st.multiselect("Layer.head", names, **CHOSEN.bound, placeholder="Choose heads, such as 3.7", width=420)
    return [(int(layer) - 1, int(head) - 1) for layer, head in (name.split(".") for name in chosen)]


def open_head(layer: int, head: int) -> None:
    """Open a head, layer and head from 0; a callback of a widget."""
    select_head(layer, head)
    SHOWN_VIEW.value = "grid"
    st.session_state[_OPENED] = True


def follow_opened_head() -> None:
    """What a view that calls ``open_head`` draws first: views are chosen outside the part of the page that ran."""
    if st.session_state.pop(_OPENED, False):
        st.rerun(scope="app")
