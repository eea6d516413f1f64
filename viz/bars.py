"""Numbers as bars, one or two a name: what is longer, what is more, and how much a change changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from viz.layout import axis_style, base_layout, token_text
from viz.palette import categorical, theme

_BAR: Final = 26  # px, of one name with one number
_SECOND: Final = 14  # px more, for two
_LONGEST_LABEL: Final = 30
_LEGEND: Final = {
    "showlegend": True,
    "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
}


def bars(
    names: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    top: float | None = None,
    written: str = ".2f",
    marked: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """A bar a name and number, from 0 to ``top`` (default: the largest number), names as given from top to bottom.

    ``series`` are one or more (what the numbers are, a number a name, none below 0); a legend tells two or more apart.
    ``written`` is the format of the numbers beside the bars. ``marked`` is the place of a name to stand out where there
    is one series. Raises ValueError where numbers do not fit the names.
    """
    if not series or any(len(values) != len(names) for _, values in series):
        raise ValueError(f"the numbers do not fit {len(names)} names")
    colours = theme(dark)
    highest = top or max(max(values, default=0.0) for _, values in series) or 1.0
    palette = categorical(max(2, len(series)), dark)
    style = axis_style(colours) | {"fixedrange": True}
    places = list(range(len(names)))
    several = len(series) > 1
    return go.Figure(
        data=[
            {
                "type": "bar",
                "orientation": "h",
                "name": what,
                "x": list(values),
                "y": places,
                "marker": {"color": [palette[1] if place == marked else colour for place in places]},
                "text": [format(value, written) for value in values],
                "textposition": "outside",
                "textfont": {"color": colours.text, "size": 12},
                "cliponaxis": False,
                "hovertext": [
                    f"{token_text(name)}<br>{token_text(what)}: <b>{value:.6g}</b>"
                    for name, value in zip(names, values, strict=True)
                ],
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
            for (what, values), colour in zip(series, palette, strict=False)
        ],
        layout=base_layout(
            dark,
            bargap=0.25,
            dragmode=False,
            height=(_BAR + _SECOND * (len(series) - 1)) * len(names) + 68,
            margin={"l": 8, "r": 60, "t": 28, "b": 40 if not several else 30},
            xaxis=style
            | {
                "range": [0, highest * 1.02],
                "showticklabels": False,
                "title": style["title"] | {"text": "" if several else token_text(series[0][0])},
            },
            yaxis=style
            | {
                "tickvals": places,
                "ticktext": [token_text(name, _LONGEST_LABEL) for name in names],
                "range": [len(names) - 0.5, -0.5],
                "ticklabelstandoff": 6,
                "automargin": True,
            },
        )
        | (_LEGEND if several else {}),
    )
