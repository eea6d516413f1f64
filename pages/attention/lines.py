"""View "Lines": a head or several, a line a pair of tokens, and the same as a file that works by itself."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis.filters import Filtered
from analysis.views import maps_of_layer
from model_zoo.errors import InvalidInput
from pages.attention import examples, filters, heads
from pages.attention.fields import CHOSEN, LOCKED, OFF, SCOPE, TOKEN
from pages.attention.scene import Scene, save_numbers, summary
from ui import View, as_python, save, widgets
from ui.component import component, component_value
from viz import lines
from viz.attended import Head, distinguishable, lines_payload
from viz.component import pack

_KEY = "lines"
_FILE = "attention-lines"


def draw(scene: Scene) -> None:
    with widgets.controls():
        scene = filters.ask(scene)
        chosen = heads.ask_heads_to_draw(scene)
    heads.compute(scene)
    if not chosen.heads:
        raise InvalidInput("All heads are switched off. Choose at least one to see its lines.")
    drawn = distinguishable(chosen.heads, chosen.front)
    view = scene.filtered(np.stack([scene.maps.map(*head) for head in drawn]))
    if view.reason is not None:
        summary(view)
        return
    payload = _payload(scene, view, drawn, chosen.front)
    save.picture(payload["file"])
    component("lines", lines.SOURCE)(
        key=_KEY, data=pack(payload), on_selected_change=lambda: _keep_token(scene, view), on_off_change=_keep_off
    )
    summary(view)
    if len(drawn) < len(chosen.heads):
        st.caption(
            f"{len(drawn)} of {len(chosen.heads)} heads are drawn: more colours cannot be told apart. Choose heads by "
            "name, or see all of them under “All heads”."
        )
    examples.say_weights(scene.run)
    _put_python(scene, view, drawn)
    save_numbers(scene, view, drawn, name=_FILE)
    maps = {"Heads" if scene.of_heads else "Layer": "; ".join(scene.called(*head) for head in drawn)}
    save.html("This view", lambda: scene.standalone(lines.SOURCE, payload, "line by line", view, maps), _FILE)


def _put_python(scene: Scene, view: Filtered, drawn: list[Head]) -> None:
    if len(drawn) == 1:
        scene.put_map(*drawn[0], lambda: view.weights[0])
        return
    of = "run" if scene.measure == "weights" else "maps"
    layer = drawn[0][0]
    if drawn == maps_of_layer(scene.maps, layer):
        before = f"layer = {layer}  # layer {layer + 1} on the page\n"
        scene.put_python(f"{of}.layer(layer)", lambda: view.weights, before=before)
        return
    scene.put_python(
        f"np.stack([{of}.{'head' if of == 'run' else 'map'}(*head) for head in heads])",
        lambda: view.weights,
        before=f"heads = {as_python.literal(drawn)}  # layer and head, which count from 1 on the page\n",
    )


def _payload(scene: Scene, view: Filtered, drawn: list[Head], front: Head | None) -> lines.Payload:
    """The numbers of the view, with the token that was locked and the heads that were switched off."""
    selected: lines.Selected | None = None
    side, _, place = LOCKED.value.partition(".")
    if place:
        selected = {"side": "query" if side == "query" else "key", "index": int(place) - 1}
    return lines_payload(
        view,
        scene.measure,
        drawn,
        front,
        selected=selected,
        off=[int(off) - 1 for off in OFF.value] if len(drawn) > 1 else [],
        group="attention",
        file=_FILE,
    )


def _keep_token(scene: Scene, view: Filtered) -> None:
    """Remember the token locked in the picture; "Query and key" opens with it, if it can look."""
    selected = component_value(_KEY, "selected")
    LOCKED.value = f"{selected['side']}.{selected['index'] + 1}" if selected else ""
    if selected and (selected["side"] == "query" or scene.run.stack != "cross"):
        units = view.queries if selected["side"] == "query" else view.keys
        if selected["index"] < len(units):
            TOKEN.value = units[selected["index"]].start + 1


def _keep_off() -> None:
    off = component_value(_KEY, "off") or ()
    OFF.value = tuple(str(place + 1) for place in off)


VIEW = View(
    "lines",
    "Lines",
    draw,
    "Lines run from each query token to the tokens it attends to. Point at a token, or tap it, to see only its lines.",
    "The stronger a line, the larger the weight. Click a token to keep its lines. With several heads, the chosen "
    "head is drawn on top, and buttons above the picture switch each head on or off.",
    fields=(SCOPE, CHOSEN, TOKEN, LOCKED, OFF),
    needs=("attention",),
    tab=30,
    terms=("attention head",),
)
