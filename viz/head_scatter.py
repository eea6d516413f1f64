"""All heads of a model in a plane: two measures on the axes, a third as colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from viz.head_measure import Head, HeadMeasure, names_of
from viz.layout import COLOUR_BAR_SPACE, axis, base_layout, scale_bar, token_text
from viz.marks import CLICKED_AS_BEFORE, LEGEND_ABOVE, error_bars, texts_outside
from viz.palette import sequential, theme
from viz.token_line import filled

_PLOT: Final = 380  # px
_AXIS: Final = 44  # px that the numbers and the title of an axis take
_NEAR_THE_EDGE: Final = 0.93  # of the range: from here on a name has no room at the right
_ROOM: Final = 0.04  # of the range on either side, so that no point lies on the edge


def head_scatter(
    heads: Sequence[Head],
    across: HeadMeasure,
    up: HeadMeasure,
    colour: HeadMeasure,
    *,
    chosen: int | None = None,
    matches: Sequence[int] = (),
    matches_name: str = "found",
    dark: bool = False,
) -> go.Figure:
    """A point a head, in the order of ``heads``; one that a measure of the axes does not have is left out.

    ``chosen`` is the place of a head, shown with its intervals and a ring, ``matches`` those that a diamond surrounds;
    ``matches_name`` says in the legend what they are. Pointing at a head tells its three numbers with their intervals.
    Trace 0 has the points; ``customdata`` begins with (layer, head). Raises ValueError where the lengths differ.
    """
    measures = (across, up, colour)
    if {len(heads)} != {len(numbers) for m in measures for numbers in (m.values, m.lows, m.highs)}:
        raise ValueError(f"every measure needs a number for each of the {len(heads)} heads, with its interval")
    colours = theme(dark)
    drawn = [at for at in range(len(heads)) if np.isfinite([across.values[at], up.values[at]]).all()]
    names = names_of(heads)
    unique_measures = list({measure.name: measure for measure in measures}.values())  # each once
    points: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": _written(across, drawn),
        "y": _written(up, drawn),
        "marker": {
            "color": [_shade(colour, at, dark) for at in drawn],
            "size": 11,
            "line": {"width": 1, "color": colours.muted},
        },
        "text": [names[at] for at in drawn],
        "customdata": [(*heads[at], *(measure.number(at) for measure in unique_measures)) for at in drawn],
        "hovertemplate": "<br>".join(
            [
                "%{text}",
                *(
                    f"{token_text(measure.name)}: %{{customdata[{place}]}}"
                    for place, measure in enumerate(unique_measures, 2)
                ),
            ]
        )
        + "<extra></extra>",
        "showlegend": False,
        **CLICKED_AS_BEFORE,
    }
    marked = [at for at in matches if at in drawn]
    rings = []
    if chosen is not None and chosen in drawn:
        rings.append(_ring(heads, [chosen], across, up, "circle-open", 20, colours.primary, names[chosen], dark))
        rings[0]["error_x"], rings[0]["error_y"] = (
            error_bars([each.values[chosen]], [each.lows[chosen]], [each.highs[chosen]], colours.primary)
            for each in (across, up)
        )
    if marked:
        rings.append(
            _ring(heads, marked, across, up, "diamond-open", 18, colours.text, token_text(matches_name, 40), dark)
        )
    low, high = colour.limits
    marks = [(place, colour.format(low + place * (high - low))) for place in (0.0, 0.5, 1.0)]
    return go.Figure(
        data=[points, *rings],
        layout=base_layout(
            dark,
            clickmode="event+select",
            hovermode="closest",
            height=_PLOT + _AXIS + COLOUR_BAR_SPACE + 40,
            margin={"l": 8, "r": 16, "t": 40, "b": _AXIS + COLOUR_BAR_SPACE},
            xaxis=axis(dark, across.title, grid=True, range=_range(across)),
            yaxis=axis(dark, up.title, grid=True, range=_range(up)),
            shapes=scale_bar(sequential(dark), marks, f"colour: {colour.title}", dark, below=_AXIS),
            legend=LEGEND_ABOVE if rings else None,
        ),
    )


def _ring(
    heads: Sequence[Head],
    places: Sequence[int],
    across: HeadMeasure,
    up: HeadMeasure,
    form: str,
    size: int,
    colour: str,
    name: str,
    dark: bool,
) -> dict[str, Any]:
    """An outline around some points, with their names as layer.head beside them; clicks go through it."""
    texts = [f"{heads[at][0] + 1}.{heads[at][1] + 1}" for at in places]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": name,
        "x": _written(across, places),
        "y": _written(up, places),
        "marker": {"symbol": form, "size": size, "color": colour, "line": {"width": 2, "color": colour}},
        **texts_outside(texts, dark),
        "textposition": _beside(across, up, places),
        "hoverinfo": "skip",
    }


def _beside(across: HeadMeasure, up: HeadMeasure, places: Sequence[int]) -> list[str]:
    """On which side of its point each name goes: away from the nearest other point."""
    of_range = [(low, high - low) for low, high in (across.limits, up.limits)]
    x, y = (
        (measure.values[list(places)] - low) / size for measure, (low, size) in zip((across, up), of_range, strict=True)
    )
    positions = []
    for at in range(len(places)):
        far = (x - x[at]) ** 2 + (y - y[at]) ** 2
        far[at] = np.inf
        nearest = int(far.argmin())
        above = (y[at], at) >= (y[nearest], nearest)
        right = x[at] >= x[nearest] and x[at] < _NEAR_THE_EDGE
        positions.append(f"{'top' if above else 'bottom'} {'right' if right else 'left'}")
    return positions


def _shade(measure: HeadMeasure, head: int, dark: bool) -> str:
    """The colour of a head's number; the page's own where it has none."""
    value = measure.values[head]
    if np.isnan(value):
        return theme(dark).background
    low, high = measure.limits
    return str(filled("", sequential(dark), (value - low) / (high - low)).fill)


def _written(measure: HeadMeasure, heads: Sequence[int]) -> list[float]:
    """The numbers of some heads with the digits that a screen can show."""
    return [float(f"{measure.values[head]:.4g}") for head in heads]


def _range(measure: HeadMeasure) -> list[float]:
    low, high = measure.limits
    room = _ROOM * (high - low)
    return [low - room, high + room]
