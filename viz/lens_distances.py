"""How far the logit lens and a fitted lens are from the final prediction after every layer."""

from __future__ import annotations

import plotly.graph_objects as go

from analysis.lens_fit import JudgedLens
from viz.layout import axis, base_layout, headline
from viz.marks import LEGEND_BELOW, band, line, symbol
from viz.palette import categorical, theme


def lens_distances(judged: JudgedLens, *, dark: bool = False) -> go.Figure:
    """A line a lens over the band of its 95% intervals, and a dotted one at the average answer."""
    bands, lines = [], []
    layers = list(range(len(judged.logit)))
    curves = (("logit lens", judged.logit), ("fitted lens", judged.fitted))
    for place, ((name, distances), colour) in enumerate(zip(curves, categorical(2, dark), strict=True)):
        lows, highs = [distance.low for distance in distances], [distance.high for distance in distances]
        bands.append(band(name, layers, lows, highs, colour) | {"showlegend": False})
        lines.append(
            line(
                name,
                layers,
                [distance.mean for distance in distances],
                colour,
                marked=symbol(place),
                size=7,
                customdata=list(zip(lows, highs, strict=True)),
                hover="after layer %{x}: <b>%{y:.2f} nats</b> (%{customdata[0]:.2f} to %{customdata[1]:.2f})"
                f"<extra>{name}</extra>",
            )
        )
    average = judged.average.mean
    muted = theme(dark).muted
    ends = [-0.2, len(layers) - 0.8]
    lines.append(line("average answer", ends, [average] * 2, muted, width=1.5, dash="dot") | {"showlegend": True})
    return go.Figure(
        data=[*bands, *lines],
        layout=base_layout(
            dark,
            height=320,
            margin={"l": 8, "r": 16, "t": 40, "b": 8},
            title=headline("Distance from the final prediction", dark),
            xaxis=axis(dark, "layer (0: embeddings)", range=ends, dtick=max(1, len(layers) // 12)),
            yaxis=axis(dark, "KL divergence, nats", grid=True, rangemode="tozero"),
            legend=LEGEND_BELOW,
        ),
    )
