"""Numbers to take away: what is on screen as CSV or NPZ, with where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from analysis.export import CSV_NOTE, Origin, to_csv, to_npz
from analysis.filters import View
from ui.attention.scene import Scene

# A row a cell: larger matrices make files no spreadsheet opens, and NPZ holds them exactly.
_MOST_CSV_CELLS = 1_000_000


def numbers(
    scene: Scene,
    shown: View,
    heads: Sequence[tuple[int, int]],
    *,
    name: str,
    how: Literal["each", "mean", "max", "sum", "norm", "rollout"] = "each",
) -> None:
    """Buttons for the numbers on screen; the files are made when they are asked for."""
    run = scene.run
    origin = Origin(model=run.model, heads=tuple(heads), how=how, value_weighted=scene.value_weighted, part=run.part)
    csv, npz = st.columns(2)
    too_large = shown.weights.size > _MOST_CSV_CELLS
    csv.download_button(
        "Numbers (CSV)",
        lambda: to_csv(shown, origin),
        f"{name}.csv",
        "text/csv",
        key=f"csv {name}",
        on_click="ignore",
        icon=":material/table:",
        disabled=too_large,
        help="More than a million cells: take the NPZ." if too_large else CSV_NOTE,
        width="stretch",
    )
    npz.download_button(
        "Numbers (NPZ)",
        lambda: to_npz(shown, origin, run.encoding, run.source),
        f"{name}.npz",
        "application/octet-stream",
        key=f"npz {name}",
        on_click="ignore",
        icon=":material/deployed_code:",
        help="For NumPy: the weights in float32 with tokens, model, revision, heads and filter.",
        width="stretch",
    )
