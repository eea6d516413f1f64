"""Whether probabilities can be taken at their word: how often pairs given a probability really were next."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from analysis.pairs import Judged
from viz.layout import axis, base_layout
from viz.marks import line
from viz.palette import theme


def calibration(judged: Judged, *, dark: bool = False) -> go.Figure:
    """One point per bin at (mean probability, share that was next), its area by the number of pairs; on the diagonal,
    probabilities are right.
    """
    colours = theme(dark)
    largest = max(bin_.n for bin_ in judged.bins)
    shares: dict[str, Any] = {"grid": True, "range": [-0.04, 1.04], "tickformat": ".0%"}
    return go.Figure(
        data=[
            line("", [0, 1], [0, 1], colours.muted, width=1, dash="dot"),
            line(
                "",
                [bin_.mean for bin_ in judged.bins],
                [bin_.share_next for bin_ in judged.bins],
                colours.primary,
                hover="%{customdata[0]} pairs given %{customdata[1]:.0%} to %{customdata[2]:.0%}"
                "<br>mean %{x:.1%}, labelled 1 %{y:.1%}<extra></extra>",
                mode="lines+markers",
                marker={"color": colours.primary, "size": [8 + 16 * (b.n / largest) ** 0.5 for b in judged.bins]},
                customdata=[[bin_.n, bin_.low, bin_.high] for bin_ in judged.bins],
            ),
        ],
        layout=base_layout(
            dark,
            height=360,
            margin={"l": 8, "r": 8, "t": 28, "b": 44},
            xaxis=axis(dark, "mean probability of the bin", **shares),
            yaxis=axis(dark, "share labelled 1", **shares),
        ),
    )
