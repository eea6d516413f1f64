"""The grid of all heads on the page: drawn by its component, and what a click in it opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.thumbnails import Thumbnails
from pages.attention.scene import Scene
from ui import save
from ui.component import component, on_component_event
from ui.widgets import select_head
from viz.component import pack
from viz.grid import SOURCE, grid

_KEY = "grid"
_FRAME = "grid_frame"


@dataclass(slots=True)
class _Frame:
    """Which picture has the frame in the browser, and what was last sent to put it there: (row, column)."""

    on_screen: tuple[int, int]
    selected: tuple[int, int]
    n_moves: int = 0


def show(scene: Scene, thumbnails: Thumbnails, layer: int, head: int) -> None:
    """Draw all heads with a frame around one, both from 0; or all layers in a row, where that is shown. A click opens
    another.

    The browser moves the frame by itself when a head is opened. The grid is then given the selection it had, and what
    does not change is neither sent nor drawn again.
    """
    place = (layer, head) if scene.of_heads else (0, layer)
    frame: _Frame | None = st.session_state.get(_FRAME)
    if frame is None or _KEY not in st.session_state:  # new in the browser, too
        frame = st.session_state[_FRAME] = _Frame(place, place)
    elif frame.on_screen != place:
        frame.n_moves += frame.selected == place
        frame.on_screen = frame.selected = place

    def opened(clicked: Sequence[int]) -> None:
        row, column = map(int, clicked)
        select_head(*((row, column) if scene.of_heads else (column, None)))
        frame.on_screen = row, column

    payload = grid(
        thumbnails if scene.of_heads else thumbnails.in_a_row(),
        frame.selected,
        names=("layer", "head") if scene.of_heads else ("layer",),
        serial=frame.n_moves,
        quantity=scene.words.quantity,
        group="attention",
    )
    save.picture(payload["file"])
    component("grid", SOURCE)(key=_KEY, data=pack(payload), on_head_change=on_component_event(_KEY, "head", opened))
