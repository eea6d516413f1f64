"""What figures over two axes are made of: bars beside their names, lines, points, and their error bars.

Plain dictionaries, as ``layout.base_layout``; settings of Plotly that only one figure has are given by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viz.palette import rgb, theme

LEGEND_ABOVE: Final = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}
LEGEND_BELOW: Final = {"orientation": "h", "x": 0, "yref": "container", "y": 0}
CLICKED_AS_BEFORE: Final[dict[str, Any]] = {
    "selected": {"marker": {"opacity": 1}},
    "unselected": {"marker": {"opacity": 1}},
}
"""Settings of bars that look the same whether one of them was clicked or not."""

_SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon", "hexagram")
_FAINT: Final = 0.2  # opacity of a band behind lines


def symbol(place: int) -> str:
    """What marks a figure's series number ``place``, so that series are told apart without colour, too."""
    return _SYMBOLS[place % len(_SYMBOLS)]


def horizontal_bars(
    values: Sequence[float],
    colours: str | Sequence[str],
    hover: Sequence[str],
    *,
    dark: bool,
    texts: Sequence[str] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """A bar a value in the rows of ``layout.rows``: ``hover`` is shown when it is pointed at, ``texts`` at its end."""
    return {
        "type": "bar",
        "orientation": "h",
        "x": list(values),
        "y": list(range(len(values))),
        "marker": {"color": colours},
        "hovertext": list(hover),
        "hovertemplate": "%{hovertext}<extra></extra>",
        **({} if texts is None else texts_outside(texts, dark)),
        **settings,
    }


def texts_outside(texts: Sequence[str], dark: bool, position: str = "outside") -> dict[str, Any]:
    """What is written beside bars or points, also where it reaches into the margin."""
    return {
        "text": list(texts),
        "textposition": position,
        "textfont": {"color": theme(dark).text, "size": 12},
        "cliponaxis": False,
    }


def line(
    name: str,
    x: Sequence[float | None],
    y: Sequence[float | None],
    colour: str,
    *,
    marked: str | None = None,
    size: int = 8,
    width: float = 2,
    dash: str = "solid",
    hover: str | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """A line through points, ``marked`` by a symbol unless that is None; ``hover`` is Plotly's template of what is said
    of a point, without which a line says nothing. A line has a gap where a number is None.
    """
    return {
        "type": "scatter",
        "name": name,
        "x": list(x),
        "y": list(y),
        "mode": "lines" if marked is None else "lines+markers",
        "line": {"color": colour, "width": width, "dash": dash},
        **({} if marked is None else {"marker": {"color": colour, "symbol": marked, "size": size}}),
        **({"hoverinfo": "skip"} if hover is None else {"hovertemplate": hover}),
        **settings,
    }


def points(
    x: Any, y: Any, marker: dict[str, Any], hover: str | list[str] | None, *, mode: str = "markers", **settings: Any
) -> dict[str, Any]:
    """Points, as Plotly takes them. ``hover`` is its template of what is said of a point, or what is said of each;
    without it a point says nothing.
    """
    hovering: dict[str, Any] = {"hoverinfo": "skip"}
    if isinstance(hover, str):
        hovering = {"hovertemplate": hover}
    elif hover is not None:
        hovering = {"hovertext": hover, "hovertemplate": "%{hovertext}<extra></extra>"}
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "marker": marker, **hovering, **settings}


def end_of_scale(values: npt.ArrayLike) -> float:
    """Where a diverging scale ends so that one outlier does not fade all other numbers: the 98th percentile of the
    sizes, or 1 where all are 0 or not finite.
    """
    sizes = np.abs(values)
    sizes = sizes[np.isfinite(sizes)]
    return (float(np.percentile(sizes, 98)) if sizes.size else 0.0) or 1.0


def error_bars(
    values: Sequence[float], lows: Sequence[float], highs: Sequence[float], colour: str, thickness: float = 1.5
) -> dict[str, Any]:
    """The intervals from ``lows`` to ``highs`` around values, as the ``error_x`` or ``error_y`` of a trace."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value for value, high in zip(values, highs, strict=True)],
        "arrayminus": [value - low for value, low in zip(values, lows, strict=True)],
        "color": colour,
        "thickness": thickness,
    }


def band(name: str, x: Sequence[float], lows: Sequence[float], highs: Sequence[float], colour: str) -> dict[str, Any]:
    """The area between two lines, in a faint ``colour`` "#rrggbb"."""
    red, green, blue = rgb(colour)
    return line(name, [*x, *reversed(x)], [*highs, *reversed(lows)], colour, width=0) | {
        "fill": "toself",
        "fillcolor": f"rgba({red}, {green}, {blue}, {_FAINT})",
    }
