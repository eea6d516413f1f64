"""View "Lines": several heads at once, a line a pair of tokens, and the same as a file that works by itself."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis.filters import Filtered, head_weights
from model_zoo.errors import InvalidInput
from ui import save, widgets
from ui.attention import examples, filters, heads
from ui.attention.fields import CHOSEN, LOCKED, OFF, SCOPE, TOKEN
from ui.attention.numbers import numbers
from ui.attention.scene import Scene, summary
from ui.component import component
from ui.page import View
from viz import lines
from viz.component import pack
from viz.palette import MOST_COLOURS, categorical
from viz.standalone import standalone_html

_KEY = "lines"


def draw(scene: Scene) -> None:
    with widgets.controls():
        chosen, in_front = heads.one_or_more(scene)
        scene = filters.ask(scene)
        with widgets.popover("Save", ":material/download:"):
            saving = st.container()
    if not chosen:
        raise InvalidInput("All heads are switched off. Choose at least one to see its lines.")
    if len(chosen) > MOST_COLOURS:
        st.info(
            f"At most {MOST_COLOURS} heads can be told apart by colour; so many of the {len(chosen)} are drawn. Choose "
            "heads by name, or see all of them under “All heads”.",
            icon=":material/palette:",
        )
        first = 0 if in_front is None else min(in_front, len(chosen) - MOST_COLOURS)
        chosen, in_front = chosen[first : first + MOST_COLOURS], None if in_front is None else in_front - first
    shown = scene.filtered(np.stack([head_weights(scene.run, *head, scene.value_weighted) for head in chosen]))
    if not summary(shown):
        return
    payload = _payload(shown, chosen, in_front)
    component("lines", lines.SOURCE)(
        key=_KEY,
        data=pack(payload),
        on_selected_change=lambda: _keep_token(scene, shown),
        on_off_change=_keep_off,
    )
    names = [f"layer {layer + 1} head {head + 1}" for layer, head in chosen]
    examples.say(scene.run)
    with saving:
        numbers(scene, shown, chosen, name="attention-lines")
        save.html("This view", lambda: _file(scene, shown, payload, names), "attention-lines")


def _file(scene: Scene, shown: Filtered, payload: lines.Payload, names: list[str]) -> str:
    return standalone_html(
        lines.SOURCE,
        payload,
        title="Attention, line by line",
        caption=shown.summary(),
        meta={
            "Model": scene.run.model.id,
            "Revision": scene.run.model.revision,
            "Heads": ", ".join(names),
            **scene.texts,
            "Numbers": scene.what,
        },
    )


def _payload(shown: Filtered, heads: list[tuple[int, int]], in_front: int | None) -> lines.Payload:
    """The numbers of the view, with the token that was locked and the heads that were switched off."""
    selected: lines.Selected | None = None
    side, _, place = LOCKED.value.partition(".")
    if place:
        selected = {"side": "query" if side == "query" else "key", "index": int(place) - 1}
    one_layer = len({layer for layer, _ in heads}) == 1
    return lines.payload(
        shown.weights,
        shown.query_labels,
        shown.key_labels,
        head_names=[f"{head + 1}" if one_layer else f"{layer + 1}.{head + 1}" for layer, head in heads],
        colours=categorical(len(heads), dark=False),
        dark_colours=categorical(len(heads), dark=True),
        query_segments=[unit.segment for unit in shown.queries],
        key_segments=[unit.segment for unit in shown.keys],
        off=[int(off) - 1 for off in OFF.value],
        selected=selected,
        in_front=in_front,
        group="attention",
    )


def _keep_token(scene: Scene, shown: Filtered) -> None:
    """Remember the token locked in the picture; "Query and key" opens with it, if it can look."""
    selected = (st.session_state.get(_KEY) or {}).get("selected")
    LOCKED.value = f"{selected['side']}.{selected['index'] + 1}" if selected else ""
    if selected and (selected["side"] == "query" or scene.run.part != "cross"):
        units = shown.queries if selected["side"] == "query" else shown.keys
        if selected["index"] < len(units):
            TOKEN.value = units[selected["index"]].start + 1


def _keep_off() -> None:
    """Remember the heads switched off in the legend."""
    off = (st.session_state.get(_KEY) or {}).get("off") or ()
    OFF.value = tuple(str(place + 1) for place in off)


VIEW = View(
    "lines",
    "Lines",
    draw,
    "A line runs from each token that looks to those it looks at. Point at a token to see only its lines.",
    "The stronger a line, the larger the weight. A click keeps a token's lines. Where there are several heads, the one "
    "that is chosen stands in front of the others.",
    fields=(SCOPE, CHOSEN, TOKEN, LOCKED, OFF),
    needs=("attention",),
)
