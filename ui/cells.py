"""A map of cells on a page: drawn by its component, and what a click in it does."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui.component import component
from viz.cells import SOURCE, Payload
from viz.component import pack


def show(payload: Payload, key: str, picked: Callable[[int, int], None] | None = None) -> None:
    """Draw a map; ``picked`` is called with the row and column, from 0, of a cell that was picked or let go."""
    mount = component("cells", SOURCE)
    if picked is None:
        mount(key=key, data=pack(payload))
        return

    def told() -> None:
        cell = (st.session_state.get(key) or {}).get("cell")
        if cell is not None:
            row, column = cell
            picked(int(row), int(column))

    mount(key=key, data=pack(payload), on_cell_change=told)
