"""A few small matrices side by side on one colour scale: masks, likenesses of positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import (
    COLOUR_BAR_SPACE,
    axis,
    base_layout,
    even_marks,
    root_title,
    scale_bar,
    token_text,
    weight_marks,
)
from viz.marks import cells
from viz.palette import diverging, sequential, square_root, theme

_HEIGHT: Final = 330  # px
_LONGEST_LABEL: Final = 8
_MOST_LABELS: Final = 16


def matrices(
    named: Sequence[tuple[str, FloatArray]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    quantity: str,
    axes: tuple[str, str],
    signed: bool = False,
    root: bool = False,
    dark: bool = False,
) -> go.Figure:
    """Each matrix float32 (rows, columns) under its name. Colours run from 0 to the largest number, or ``signed`` from
    minus the largest size to plus it; with ``root`` they follow the square root, so that small shares can be told
    apart. ``quantity`` names the numbers, ``axes`` say what a row and a column are. Raises ValueError where
    labels do not fit.
    """
    if not named or any(values.shape != (len(rows), len(columns)) for _, values in named):
        raise ValueError(f"matrices of {len(rows)} rows and {len(columns)} columns are wanted")
    colours = theme(dark)
    end = max(float(np.nanmax(np.abs(values))) for _, values in named) or 1.0
    scale = diverging(dark) if signed else square_root(sequential(dark)) if root else sequential(dark)
    n, gap = len(named), 0.04
    width = (1 - gap * (n - 1)) / n
    marks = weight_marks(end) if root else even_marks(end, signed=signed)
    title = root_title(token_text(quantity)) if root else token_text(quantity)
    bar = scale_bar(diverging(dark) if signed else sequential(dark), marks, title, dark)
    margin = {"l": 8, "r": 8, "t": 8, "b": COLOUR_BAR_SPACE}
    figure = go.Figure(layout=base_layout(dark, height=_HEIGHT, margin=margin, shapes=bar))
    for number, (name, values) in enumerate(named):
        which = "" if number == 0 else str(number + 1)
        start = number * (width + gap)
        figure.add_trace(
            cells(
                values,
                scale,
                -end if signed else 0,
                end,
                f"%{{text}}<br>{token_text(quantity)}: <b>%{{z:.4f}}</b><extra></extra>",
                xaxis=f"x{which}",
                yaxis=f"y{which}",
                xgap=1 if len(columns) < 40 else 0,
                ygap=1 if len(rows) < 40 else 0,
                text=[[f"{token_text(row)} → {token_text(column)}" for column in columns] for row in rows],
            )
        )
        figure.layout[f"xaxis{which}"] = axis(
            dark,
            f"<span style='color:{colours.text}'><b>{token_text(name)}</b></span><br>{axes[1]}",
            side="top",
            domain=[start, start + width],
            anchor=f"y{which}",
            tickangle=-60,
            **_labels(columns, _MOST_LABELS // n),
        )
        figure.layout[f"yaxis{which}"] = axis(
            dark,
            axes[0] if number == 0 else "",
            domain=[0, 1],
            anchor=f"x{which}",
            autorange="reversed",
            showticklabels=number == 0,
            **_labels(rows, _MOST_LABELS),
        )
    return figure


def _labels(names: Sequence[str], most: int) -> dict[str, Any]:
    """About so many labels: on a phone more would print over each other."""
    step = max(1, round(len(names) / most))
    places = list(range(0, len(names), step))
    return {"tickvals": places, "ticktext": [token_text(names[place], _LONGEST_LABEL) for place in places]}
