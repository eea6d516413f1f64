"""What the views of results share: a table to take away, the best layer in words."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from analysis.export import CSV_NOTE, table_to_csv
from analysis.probing import StructuralResult, TaskResult
from ui.messages import enumerated
from viz import probing


def download(label: str, name: str, table: Callable[[], pd.DataFrame]) -> None:
    """A button that saves a table, made when it is pressed, as a CSV file of that name."""
    st.download_button(
        label,
        lambda: table_to_csv(table()),
        f"{name}.csv",
        "text/csv",
        key=f"csv {name}",
        help=CSV_NOTE,
        on_click="ignore",
        icon=":material/table:",
    )


def told(result: TaskResult | StructuralResult, items: str = "items") -> str:
    """The best layer, and those that the test ``items`` do not set apart from it."""
    names = [
        name if layer == 0 else f"layer {name}" for layer, name in enumerate(probing.layer_names(len(result.layers)))
    ]
    best = names[result.best.layer]
    alike = [names[layer] for layer in result.as_good if layer != result.best.layer]
    if not alike:
        return f"{best}; the test {items} set it apart from all others (paired test, Holm, 5%)."
    return f"{best}. On the test {items} it is not set apart from {enumerated(alike)} (paired test, Holm, 5%)."


def per_cent(share: float | None) -> float | None:
    """A share as per cent; nothing stays nothing."""
    return None if share is None else 100 * share
