"""What one head does, measure by measure, among all heads of its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from viz.head_measure import Head, HeadMeasure, names_of
from viz.layout import axis, base_layout, note, rows, token_text
from viz.marks import CLICKED_AS_BEFORE, LEGEND_BELOW, error_bars
from viz.palette import theme

_ROW: Final = 50  # px
_LONGEST_NAME: Final = 30


def measure_dots(heads: Sequence[Head], measures: Sequence[HeadMeasure], head: int, *, dark: bool = False) -> go.Figure:
    """A row a measure: a point with its interval for the head at a place of ``heads``, a tick for each other head. A
    row has a range of its own, from 0 to the largest number of any head, which stand at its ends.

    Trace 0 has the ticks; ``customdata`` is (layer, head). Raises ValueError without measures, or where a measure has
    other than a number a head.
    """
    if not measures or {len(measure.values) for measure in measures} != {len(heads)}:
        raise ValueError(f"{len(heads)} heads are to be drawn by at least one measure, with a number each")
    colours = theme(dark)
    names = names_of(heads)
    others = [
        (row, at)
        for row, measure in enumerate(measures)
        for at in np.flatnonzero(np.isfinite(measure.values)).tolist()
        if at != head
    ]
    known = [(row, measure) for row, measure in enumerate(measures) if np.isfinite(measure.values[head])]
    values, lows, highs = (
        [_place(measure, numbers[head]) for (_, measure), numbers in zip(known, of_all, strict=True)]
        for of_all in ([m.values for _, m in known], [m.lows for _, m in known], [m.highs for _, m in known])
    )
    ticks: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "name": "every other head",
        "x": [round(_place(measures[row], measures[row].values[at]), 4) for row, at in others],
        "y": [row for row, _ in others],
        "marker": {"symbol": "line-ns-open", "size": 12, "color": colours.muted, "opacity": 0.55, "line": {"width": 1}},
        "customdata": [heads[at] for _, at in others],
        "hovertext": [f"{names[at]}: {measures[row].format(measures[row].values[at])}" for row, at in others],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "selected": {"marker": {"opacity": 0.55}},
        "unselected": {"marker": {"opacity": 0.55}},
    }
    dots: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "name": names[head],
        "x": values,
        "y": [row for row, _ in known],
        "marker": {"size": 12, "color": colours.primary, "line": {"width": 1, "color": colours.background}},
        "error_x": error_bars(values, lows, highs, colours.primary, 2.5),
        "hovertext": [f"{token_text(measure.name)}: {measure.number(head)}" for _, measure in known],
        "hovertemplate": "%{hovertext}<extra></extra>",
        **CLICKED_AS_BEFORE,
    }
    return go.Figure(
        data=[ticks, dots],
        layout=base_layout(
            dark,
            clickmode="event+select",
            hovermode="closest",
            height=_ROW * len(measures) + 48,
            margin={"l": 8, "r": 20, "t": 8, "b": 40},
            xaxis=axis(dark, range=[-0.02, 1.02], showticklabels=False),
            yaxis=rows([_named(measure, head) for measure in measures], dark),
            annotations=[
                note(measure.format(end), side, row, colours.muted, 11, xref="x", yref="y", yshift=-18)
                for row, measure in enumerate(measures)
                for side, end in enumerate(measure.limits)
            ],
            legend=LEGEND_BELOW,
        ),
    )


def _place(measure: HeadMeasure, value: float) -> float:
    """Where a number stands between the ends of its measure's range, 0 to 1."""
    low, high = measure.limits
    return float((value - low) / (high - low))


def _named(measure: HeadMeasure, head: int) -> str:
    """The measure, and below it the head's number."""
    value = measure.values[head]
    number = "not defined" if np.isnan(value) else f"<b>{measure.format(value)}</b>{measure.after}"
    return f"{token_text(measure.name, _LONGEST_NAME)}<br>{number}"
