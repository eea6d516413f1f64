"""A few lines over the same places, such as a number after each layer: where they rise, fall and part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from viz.layout import axis_style, base_layout, token_text
from viz.palette import categorical, theme

_SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon", "hexagram")
_HEIGHT: Final = 340  # px
_PLOT: Final = 260  # px at least below the names
_LEGEND_ROW: Final = 22  # px a line: on a phone each name gets a row of its own
_MOST_LABELS: Final = 18
_LONGEST_NAME: Final = 40


def curves(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    what: str,
    across: str = "",
    span: tuple[float, float] = (0, 1),
    share: bool = False,
    dark: bool = False,
) -> go.Figure:
    """A line a series (its name, a number a label), named above the picture, numbers exact on hovering.

    ``what`` names the numbers and ``across`` the labels; the numbers' axis reaches over ``span``, further where numbers
    lie outside of it. A line ends where its numbers are nan. With a ``share`` they are written as percentages. Raises
    ValueError where numbers do not fit the labels.
    """
    if not series or any(len(values) != len(labels) for _, values in series):
        raise ValueError(f"the numbers do not fit {len(labels)} labels")
    colours = theme(dark)
    style: dict[str, Any] = axis_style(colours) | {"fixedrange": True, "automargin": True}
    known = [value for _, values in series for value in values if value == value]  # nan: a line that ends before
    low, high = min([span[0], *known]), max([span[1], *known])
    room = 0.03 * (high - low)
    above = _LEGEND_ROW * len(series) + 12
    places = list(range(len(labels)))
    step = 1 + (len(labels) - 1) // _MOST_LABELS
    return go.Figure(
        data=[
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": token_text(name, _LONGEST_NAME),
                "x": places,
                "y": list(values),
                "line": {"color": colour, "width": 2},
                "marker": {"color": colour, "symbol": symbol, "size": 8},
                "hovertext": [
                    f"{token_text(name)}<br>{token_text(f'{across} {label}'.strip())}: "
                    f"<b>{format(value, '.1%' if share else '.4f')}</b>".replace("<b>-", "<b>−")
                    for label, value in zip(labels, values, strict=True)
                ],
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
            for (name, values), colour, symbol in zip(
                series, categorical(len(series), dark), _SYMBOLS[: len(series)], strict=True
            )
        ],
        layout=base_layout(
            dark,
            height=max(_HEIGHT, above + _PLOT),
            margin={"l": 8, "r": 16, "t": above, "b": 48},
            dragmode=False,
            xaxis=style
            | {
                "tickvals": places[::step],
                "ticktext": [token_text(label) for label in labels[::step]],
                "range": [-0.3, len(labels) - 0.7],
                "title": style["title"] | {"text": token_text(across)},
            },
            yaxis=style
            | {
                "range": [low - room, high + room],
                "showgrid": True,
                "gridcolor": colours.line,
                "tickformat": ".0%" if share else "",
                "title": style["title"] | {"text": token_text(what)},
            },
        )
        | {
            "showlegend": True,
            "legend": {"orientation": "v", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        },
    )
