"""The heads that look there most, as bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from viz.layout import axis_style, base_layout
from viz.palette import categorical, theme
from viz.predictions import percent

_BAR = 24  # px


def ranking(
    heads: Sequence[tuple[int, int]], shares: Sequence[float], even: Sequence[float], what: str, *, dark: bool = False
) -> go.Figure:
    """Shares from 0 to 1 of heads (layer, head), both from 0, in the order given, largest bar as long as the picture.

    A line stands in each bar at what an ``even`` spread gives. ``what`` names the number below the bars; it is put in
    as it is (``layout.token_text`` makes a token safe). Trace 0; ``customdata`` holds the heads, so that a click can
    say which was meant.
    """
    colours = theme(dark)
    (colour,) = categorical(1, dark)
    style = axis_style(colours) | {"fixedrange": True}
    places = list(range(len(heads)))
    names = [f"Layer {layer + 1}, head {head + 1}" for layer, head in heads]
    return go.Figure(
        data=[
            go.Bar(
                x=list(shares),
                y=places,
                orientation="h",
                marker={"color": colour},
                text=[percent(share) for share in shares],
                textposition="outside",
                textfont={"color": colours.text, "size": 12},
                cliponaxis=False,
                customdata=list(heads),
                hovertext=[
                    f"{name}: <b>{share:.3f}</b><br>an even spread: {spread:.3f}"
                    for name, share, spread in zip(names, shares, even, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}},
            ),
            go.Scatter(
                x=list(even),
                y=places,
                mode="markers",
                marker={"symbol": "line-ns-open", "size": 16, "color": colours.text, "line": {"width": 2}},
                hoverinfo="skip",
            ),
        ],
        layout=base_layout(
            dark,
            bargap=0.25,
            dragmode=False,
            clickmode="event+select",
            height=_BAR * len(heads) + 56,
            margin={"l": 8, "r": 56, "t": 8, "b": 48},
            xaxis=style
            | {
                "range": [0, max(*shares, *even) * 1.02 or 1],
                "showticklabels": False,
                "title": style["title"] | {"text": f"{what}<br>line: an even spread"},
            },
            yaxis=style
            | {
                "tickvals": places,
                "ticktext": names,
                "range": [len(heads) - 0.5, -0.5],
                "ticklabelstandoff": 6,
                "automargin": True,
            },
        ),
    )
