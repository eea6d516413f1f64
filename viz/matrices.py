"""A few small matrices side by side on one colour scale: masks, likenesses of positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import axis_style, base_layout, token_text
from viz.palette import diverging, sequential, square_root, theme

_HEIGHT: Final = 330  # px
_LONGEST_LABEL: Final = 8
_MOST_LABELS: Final = 16


def matrices(
    named: Sequence[tuple[str, FloatArray]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    what: str,
    signed: bool = False,
    root: bool = False,
    dark: bool = False,
) -> go.Figure:
    """Each matrix float32 (rows, columns) under its name. Colours run from 0 to the largest number, or ``signed`` from
    minus the largest size to plus it; with ``root`` they follow the square root, so that small shares can be told
    apart. ``what`` names the numbers on hovering. Raises ValueError where labels do not fit.
    """
    if not named or any(values.shape != (len(rows), len(columns)) for _, values in named):
        raise ValueError(f"matrices of {len(rows)} rows and {len(columns)} columns are wanted")
    colours = theme(dark)
    end = max(float(np.nanmax(np.abs(values))) for _, values in named) or 1.0
    scale = diverging(dark) if signed else square_root(sequential(dark)) if root else sequential(dark)
    style = axis_style(colours) | {"fixedrange": True}
    n, gap = len(named), 0.04
    width = (1 - gap * (n - 1)) / n
    figure = go.Figure(
        layout=base_layout(dark, height=_HEIGHT, margin={"l": 8, "r": 8, "t": 52, "b": 52}, dragmode=False)
    )
    for number, (name, values) in enumerate(named):
        axis = "" if number == 0 else str(number + 1)
        start = number * (width + gap)
        figure.add_heatmap(
            z=values,
            xaxis=f"x{axis}",
            yaxis=f"y{axis}",
            zmin=-end if signed else 0,
            zmax=end,
            colorscale=scale,
            showscale=False,
            xgap=1 if len(columns) < 40 else 0,
            ygap=1 if len(rows) < 40 else 0,
            text=[[f"{token_text(row)} → {token_text(column)}" for column in columns] for row in rows],
            hovertemplate=f"%{{text}}<br>{token_text(what)}: <b>%{{z:.4f}}</b><extra></extra>",
        )
        figure.layout[f"xaxis{axis}"] = (
            style
            | _labels(columns)
            | {
                "domain": [start, start + width],
                "anchor": f"y{axis}",
                "tickangle": -60,
                "title": style["title"] | {"text": ""},
            }
        )
        figure.layout[f"yaxis{axis}"] = (
            style
            | _labels(rows)
            | {
                "domain": [0, 1],
                "anchor": f"x{axis}",
                "autorange": "reversed",
                "automargin": True,
                "showticklabels": number == 0,
            }
        )
        figure.add_annotation(
            text=f"<b>{token_text(name)}</b>",
            x=start + width / 2,
            y=1,
            xref="paper",
            yref="paper",
            xanchor="center",
            yanchor="bottom",
            showarrow=False,
            font={"size": 12, "color": colours.text},
        )
    return figure


def _labels(names: Sequence[str]) -> dict[str, object]:
    step = max(1, round(len(names) / _MOST_LABELS))
    places = list(range(0, len(names), step))
    return {"tickvals": places, "ticktext": [token_text(names[place], _LONGEST_LABEL) for place in places]}
