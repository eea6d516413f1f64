"""Models in one picture: how good each is against what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go

from viz.layout import PERCENT, axis_style, base_layout, token_text
from viz.palette import categorical, theme

_SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")
_LONGEST_NAME: Final = 24


@dataclass(frozen=True, slots=True)
class Entry:
    """A model: what it costs, and its score with an interval."""

    name: str
    cost: float
    value: float
    low: float
    high: float


def against(entries: Sequence[Entry], cost: str, score: str, *, percent: bool = True, dark: bool = False) -> go.Figure:
    """Scores by cost, which is on a logarithmic axis, with bars over the intervals: up and to the left is better.

    Raises ValueError without entries, and for a cost that is not above 0.
    """
    if not entries or min(entry.cost for entry in entries) <= 0:
        raise ValueError("models are drawn by costs above 0, and there has to be one")
    colours = theme(dark)
    palette = categorical(len(entries), dark)
    axis = axis_style(colours) | {"fixedrange": True, "automargin": True, "showgrid": True, "gridcolor": colours.line}
    hover = "%{y:.1%}" if percent else "%{y:.3f}"
    traces = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "name": token_text(entry.name, _LONGEST_NAME),
            "x": [entry.cost],
            "y": [entry.value],
            "text": [token_text(entry.name, _LONGEST_NAME)],
            "textposition": "middle right",
            "textfont": {"color": colours.text, "size": 12},
            "cliponaxis": False,
            "marker": {"color": palette[place], "symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 11},
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": [entry.high - entry.value],
                "arrayminus": [entry.value - entry.low],
                "color": palette[place],
                "thickness": 1.5,
                "width": 4,
            },
            "hovertemplate": f"%{{x:.3~g}}: <b>{hover}</b><extra>{token_text(entry.name)}</extra>",
        }
        for place, entry in enumerate(entries)
    ]
    return go.Figure(
        data=traces,
        layout=base_layout(
            dark,
            height=330,
            dragmode=False,
            margin={"l": 8, "r": 24, "t": 32, "b": 8},
            xaxis=axis | {"type": "log", "title": axis["title"] | {"text": cost}},
            yaxis=axis
            | {
                "title": axis["title"] | {"text": f"{score} (test)"},
                **({"tickformat": PERCENT} if percent else {}),
            },
        ),
    )
