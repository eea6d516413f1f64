"""A map of cells on a page: drawn by its component, and what a click in it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ui import save
from ui.component import component, on_component_event
from viz.cells import SOURCE, Payload
from viz.component import pack

Cells = Sequence[tuple[int, int]]


def show(payload: Payload, key: str, picked: Callable[[Cells], None] | None = None) -> None:
    """Draw a map; ``picked`` is called with all picked cells, (row, column) from 0 in order, when they changed."""
    mount = component("cells", SOURCE)
    save.picture(payload["file"])
    if picked is None:
        mount(key=key, data=pack(payload))
        return
    known = f"{key} clicks"

    def heard(report: Mapping[str, Any]) -> None:
        st.session_state[known] = report["serial"]
        picked([(int(row), int(column)) for row, column in report["cells"]])

    mount(
        key=key,
        data=pack({**payload, "known": st.session_state.get(known, 0)}),
        on_picks_change=on_component_event(key, "picks", heard),
    )
