"""Vectors as strips of colour, one under the other: what is added to what, with every number at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import axis_style, base_layout, token_text
from viz.palette import diverging, theme

_ROW: Final = 38  # px
_BAR: Final = 46  # px below: the colour bar
_LONGEST_LABEL: Final = 30
_LEAST: Final = 0.25  # of the width that a short vector gets: cells that one can point at


@dataclass(frozen=True, slots=True)
class Strip:
    """A vector float32 (d,) and what it is called; ``said`` says of its numbers, in lines, where they come from.

    ``sign`` stands before the name: "+" or "=" where strips are added up. ``ends`` are the places in front of which a
    line parts the strip, as between the heads of a layer.
    """

    name: str
    values: FloatArray
    said: Sequence[str] = ()
    sign: str = ""
    ends: Sequence[int] = ()


def strips(rows: Sequence[Strip], *, what: str = "dimension", dark: bool = False) -> go.Figure:
    """One strip a row, a cell a number, as long as the vector is beside the longest one (a short one gets a quarter).

    All share a colour scale centred at 0 that ends at the 98th percentile of the sizes shown, so that one large number
    does not fade all others. Hovering tells the exact number, its place counted from 1, and what was ``said`` of it.
    Raises ValueError where there is nothing to draw.
    """
    if not rows or not all(len(row.values) for row in rows):
        raise ValueError("there are no numbers to draw")
    colours = theme(dark)
    end = _end(np.concatenate([row.values for row in rows]))
    longest = max(len(row.values) for row in rows)
    style = axis_style(colours) | {"fixedrange": True}
    plot = _ROW * len(rows)
    figure = go.Figure(
        layout=base_layout(
            dark,
            height=plot + _BAR + 28,
            margin={"l": 8, "r": 8, "t": 28, "b": _BAR},
            dragmode=False,
            hovermode="closest",
            xaxis=style | {"range": [0, 1], "showticklabels": False},
            yaxis=style
            | {
                "tickvals": list(range(len(rows))),
                "ticktext": [_label(row) for row in rows],
                "range": [len(rows) - 0.5, -0.5],
                "ticklabelstandoff": 6,
                "automargin": True,
            },
        )
    )
    for place, row in enumerate(rows):
        share = max(len(row.values) / longest, _LEAST)
        cell = share / len(row.values)
        figure.add_heatmap(
            x0=cell / 2,
            dx=cell,
            y=[place],
            z=row.values[None],
            text=[_hovers(row, what)],
            hovertemplate="%{text}<extra></extra>",
            zmin=-end,
            zmax=end,
            colorscale=diverging(dark),
            ygap=8,
            showscale=place == 0,
            colorbar={
                "orientation": "h",
                "x": 0,
                "xanchor": "left",
                "y": -6 / plot,
                "yanchor": "top",
                "ypad": 0,
                "xpad": 0,
                "lenmode": "pixels",
                "len": 180,
                "thickness": 8,
                "outlinewidth": 0,
                "tickvals": [-end, 0, end],
                "ticktext": [f"≤−{end:.2g}", "0", f"≥{end:.2g}"],
                "tickfont": {"size": 11, "color": colours.muted},
            },
        )
        for at in row.ends:
            figure.add_shape(
                type="line",
                x0=at * cell,
                x1=at * cell,
                y0=place - 0.5,
                y1=place + 0.5,
                line={"color": colours.text, "width": 1},
            )
    return figure


def _label(row: Strip) -> str:
    sign = f"{row.sign} " if row.sign else ""
    n = len(row.values)
    muted = f"{n} number{'s' if n > 1 else ''}"
    # Plotly measures a bold text as a plain one, and would cut what is longer.
    return f"&nbsp;&nbsp;{sign}<b>{token_text(row.name, _LONGEST_LABEL)}</b><br><sub>{muted}</sub>"


def _hovers(row: Strip, what: str) -> list[str]:
    name = token_text(row.name)
    said = list(row.said) or [""] * len(row.values)
    return [
        f"{name}, {what} {place}: <b>{value:.6g}</b>".replace("<b>-", "<b>−")
        + "".join(f"<br>{token_text(line)}" for line in more.splitlines())
        for place, (value, more) in enumerate(zip(row.values.tolist(), said, strict=True), start=1)
    ]


def _end(values: FloatArray) -> float:
    """Where the colour scale ends, 1 where all numbers are 0."""
    return float(np.percentile(np.abs(values), 98)) or 1.0
