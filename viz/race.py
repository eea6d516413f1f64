"""Models in one picture: how good each is against what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go

from viz.layout import axis, base_layout, score_axis, token_text
from viz.marks import error_bars, symbol, texts_outside
from viz.palette import categorical

_LONGEST_NAME: Final = 24
_FEWEST_TICKS: Final = 3
_ROOM_BEFORE: Final = 1.25  # times, on the logarithmic axis
_ROOM_FOR_A_NAME: Final = 1.5


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
    costs = [entry.cost for entry in entries]
    lowest, highest = min(costs) / _ROOM_BEFORE, max(costs) * _ROOM_FOR_A_NAME
    ticks = _ticks(lowest, highest)
    hover = "%{y:.1%}" if percent else "%{y:.3f}"
    by_cost = sorted(entries, key=lambda entry: entry.cost)
    at = {entry: f"{'top' if place % 2 else 'bottom'} right" for place, entry in enumerate(by_cost)}  # by turns
    traces = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "name": token_text(entry.name, _LONGEST_NAME),
            "x": [entry.cost],
            "y": [entry.value],
            **texts_outside([token_text(entry.name, _LONGEST_NAME)], dark, at[entry]),
            "marker": {"color": colour, "symbol": symbol(place), "size": 11},
            "error_y": error_bars([entry.value], [entry.low], [entry.high], colour),
            "hovertemplate": f"%{{x:.3~g}}: <b>{hover}</b><extra>{token_text(entry.name)}</extra>",
        }
        for place, (entry, colour) in enumerate(zip(entries, categorical(len(entries), dark), strict=True))
    ]
    return go.Figure(
        data=traces,
        layout=base_layout(
            dark,
            height=330,
            margin={"l": 8, "r": 24, "t": 32, "b": 8},
            xaxis=axis(
                dark,
                cost,
                grid=True,
                type="log",
                range=np.log10([lowest, highest]).tolist(),
                tickvals=ticks,
                ticktext=[f"{tick:g}" for tick in ticks],
            ),
            yaxis=score_axis(dark, f"{score} (test)", percent=percent),
        ),
    )


def _ticks(lowest: float, highest: float) -> list[float]:
    """1, 2, 5, 10, 20, … between two numbers, and all the digits where that would be fewer than three: Plotly's own are
    digits without their power of ten.
    """
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    for digits in ((1, 2, 5), range(1, 10)):
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        ticks = [tick for tick in ticks if lowest <= tick <= highest]
        if len(ticks) >= _FEWEST_TICKS:
            break
    return ticks
