"""Tables of texts that visitors bring, drawn so that they fit into one message to the browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

# Bytes of all texts of a table: with what is around them less than server.maxMessageSize.
MOST_TEXT = 3_000_000


def draw(table: pd.DataFrame, **options: Any) -> None:
    """``st.dataframe`` with these options. Where the texts are too long together, each is cut, and that is said."""
    shortened = short(table)
    st.dataframe(shortened, hide_index=True, **options)
    if shortened is not table:
        st.caption("Texts that end in “…” are cut on this screen alone.")


def draw_selectable(table: pd.DataFrame, key: str, select: Callable[[int], None], **options: Any) -> None:
    """``st.dataframe`` with these options; ``select`` is told the place of a row that is selected."""

    def selected() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows:
            select(rows[0])

    st.dataframe(table, key=key, hide_index=True, on_select=selected, selection_mode="single-row", **options)


def short(table: pd.DataFrame) -> pd.DataFrame:
    """The table itself, or with each text cut to its share of the bytes that all may have."""
    if sum(len(_bytes(cell)) for cell in table.to_numpy().flat) <= MOST_TEXT:
        return table
    most = MOST_TEXT // table.size

    def cut(cell: object) -> object:
        data = _bytes(cell)
        return f"{data[:most].decode('utf-8', 'ignore')}…" if len(data) > most else cell

    return table.map(cut)


def per_cent(share: float | None) -> float | None:
    """A share in percent; None stays None."""
    return None if share is None else 100 * share


def _bytes(cell: object) -> bytes:
    return cell.encode("utf-8", "replace") if isinstance(cell, str) else b""
