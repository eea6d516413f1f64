"""The grid of all heads on the page: drawn by its component, and what a click in it opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.thumbnails import Thumbnails
from ui import HEAD, LAYER, save
from ui.component import component, hearing
from viz.component import pack
from viz.grid import SOURCE, grid

_KEY = "grid"
_FRAME = "frame of the grid of all heads"


@dataclass(slots=True)
class _Frame:
    """Which head has the frame in the browser, and what was last sent to put it there."""

    on_screen: tuple[int, int]
    selected: tuple[int, int]
    asked: int = 0


def show(thumbnails: Thumbnails, head: tuple[int, int], *, what: str) -> None:
    """Draw all heads with a frame around one, (layer, head) counted from 0; a click opens another.

    The browser moves the frame by itself when a head is opened. The grid is then given the selection it had, and what
    does not change is neither sent nor drawn again.
    """
    frame: _Frame | None = st.session_state.get(_FRAME)
    if frame is None or _KEY not in st.session_state:  # new in the browser, too
        frame = st.session_state[_FRAME] = _Frame(head, head)
    elif frame.on_screen != head:
        frame.asked += frame.selected == head
        frame.on_screen = frame.selected = head

    def opened(one: Sequence[int]) -> None:
        layer, head_ = one
        LAYER.value, HEAD.value = int(layer) + 1, int(head_) + 1
        frame.on_screen = int(layer), int(head_)

    payload = grid(thumbnails, frame.selected, asked=frame.asked, what=what, group="attention")
    save.picture(payload["file"])
    component("grid", SOURCE)(key=_KEY, data=pack(payload), on_head_change=hearing(_KEY, "head", opened))
