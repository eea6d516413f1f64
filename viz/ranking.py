"""The heads that look there most, as bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from viz.layout import axis
from viz.marks import CLICKED_AS_BEFORE, bars_layout, horizontal_bars
from viz.palette import categorical, theme
from viz.predictions import percent

_BAR = 24  # px


def ranking(
    heads: Sequence[tuple[int, int]],
    shares: Sequence[float],
    even: Sequence[float],
    quantity: str,
    *,
    dark: bool = False,
) -> go.Figure:
    """Shares from 0 to 1 of heads (layer, head), both from 0, in the order given, largest bar as long as the picture.

    A line stands in each bar at what an ``even`` spread gives. ``quantity`` names the number below the bars; it is put
    in as it is (``layout.token_text`` makes a token safe). Trace 0; ``customdata`` holds the heads, so that a click can
    say which was meant.
    """
    (colour,) = categorical(1, dark)
    names = [f"Layer {layer + 1}, head {head + 1}" for layer, head in heads]
    return go.Figure(
        data=[
            horizontal_bars(
                shares,
                colour,
                [
                    f"{name}: <b>{share:.3f}</b><br>uniform attention: {spread:.3f}"
                    for name, share, spread in zip(names, shares, even, strict=True)
                ],
                dark=dark,
                texts=[percent(share) for share in shares],
                customdata=list(heads),
                **CLICKED_AS_BEFORE,
            ),
            {
                "type": "scatter",
                "mode": "markers",
                "x": list(even),
                "y": list(range(len(even))),
                "marker": {"symbol": "line-ns-open", "size": 16, "color": theme(dark).text, "line": {"width": 2}},
                "hoverinfo": "skip",
            },
        ],
        layout=bars_layout(
            names,
            dark,
            clickmode="event+select",
            height=_BAR * len(heads) + 56,
            margin={"l": 8, "r": 56, "t": 8, "b": 48},
            xaxis=axis(
                dark,
                f"{quantity}<br>line: uniform attention",
                range=[0, max(*shares, *even) * 1.02 or 1],
                showticklabels=False,
            ),
        ),
    )
