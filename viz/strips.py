"""Vectors as strips of colour, one under the other: what is added to what, with every number at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import COLOUR_BAR_SPACE, axis, even_marks, make_figure, rows, scale_bar, token_text
from viz.marks import end_of_scale
from viz.matrix import cells
from viz.palette import diverging, theme

_ROW: Final = 38  # px
_LONGEST_LABEL: Final = 30
_LEAST: Final = 0.25  # of the width that a short vector gets: cells that one can point at


@dataclass(frozen=True, slots=True)
class Strip:
    """A vector float32 (d,) and what it is called; ``notes`` say of its numbers, in lines, where they come from.

    ``sign`` stands before the name: "+" or "=" where strips are added up. ``ends`` are the places in front of which a
    line parts the strip, as between the heads of a layer.
    """

    name: str
    values: FloatArray
    notes: Sequence[str] = ()
    sign: str = ""
    ends: Sequence[int] = ()


def strips(vectors: Sequence[Strip], *, unit: str = "dimension", dark: bool = False) -> go.Figure:
    """One strip a row, a cell a number, as long as the vector is beside the longest one (a short one gets a quarter).

    All share a colour scale centred at 0 that ends at the 98th percentile of the sizes shown, so that one large number
    does not fade all others. Hovering tells the exact number, its place counted from 1, and the note on it.
    Raises ValueError where there is nothing to draw.
    """
    if not vectors or not all(len(vector.values) for vector in vectors):
        raise ValueError("there are no numbers to draw")
    end = end_of_scale(np.concatenate([vector.values for vector in vectors]))
    longest = max(len(vector.values) for vector in vectors)
    traces, ends = [], []
    ink = {"color": theme(dark).text, "width": 1}
    for place, row in enumerate(vectors):
        cell = max(len(row.values) / longest, _LEAST) / len(row.values)
        places = {"x": None, "x0": cell / 2, "dx": cell, "y": [place], "xgap": 0, "ygap": 8}
        hover, texts = "%{text}<extra></extra>", [_hovers(row, unit)]
        traces.append(cells(row.values[None], diverging(dark), -end, end, hover, text=texts, **places))
        ends += [
            {"type": "line", "x0": at * cell, "x1": at * cell, "y0": place - 0.5, "y1": place + 0.5, "line": ink}
            for at in row.ends
        ]
    return make_figure(
        traces,
        dark,
        shapes=[*scale_bar(diverging(dark), even_marks(end, signed=True, beyond=True), "value", dark), *ends],
        height=_ROW * len(vectors) + COLOUR_BAR_SPACE + 28,
        margin=(8, 8, 28, COLOUR_BAR_SPACE),
        hovermode="closest",
        xaxis=axis(dark, f"{unit}s, from left to right", side="top", range=[0, 1], showticklabels=False),
        yaxis=rows([_label(vector) for vector in vectors], dark, "vector"),
    )


def _label(row: Strip) -> str:
    sign = f"{row.sign} " if row.sign else ""
    n = len(row.values)
    muted = f"{n} number{'s' if n > 1 else ''}"
    # Plotly measures a bold text as a plain one, and would cut what is longer.
    return f"&nbsp;&nbsp;{sign}<b>{token_text(row.name, _LONGEST_LABEL)}</b><br><sub>{muted}</sub>"


def _hovers(row: Strip, unit: str) -> list[str]:
    name = token_text(row.name)
    notes = list(row.notes) or [""] * len(row.values)
    return [
        f"{name}, {unit} {place}: <b>{value:.6g}</b>".replace("<b>-", "<b>−")
        + "".join(f"<br>{token_text(line)}" for line in more.splitlines())
        for place, (value, more) in enumerate(zip(row.values.tolist(), notes, strict=True), start=1)
    ]
