"""Pruning curves: a score over the number of heads that are off, an order of heads each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from analysis.corpus.importance import Curve
from viz.layout import axis, base_layout, score_axis, token_text
from viz.marks import LEGEND_BELOW, band, line, symbol
from viz.palette import categorical, theme

_HEIGHT: Final = 360  # px


def pruning(
    curves: Sequence[Curve],
    score: str,
    n_heads: int,
    *,
    percent: bool,
    baseline: tuple[str, float] | None = None,
    dark: bool = False,
) -> go.Figure:
    """A line a curve over a band from ``low`` to ``high`` of its points, and a dotted line at the ``baseline`` (its
    name, its value). ``score`` names the score, which with ``percent`` is a share. The axis reaches to all ``n_heads``.

    Raises ValueError without curves.
    """
    if not curves:
        raise ValueError("there is nothing to draw: no curve is known")
    form = ".1%" if percent else ".3f"
    bands, lines = [], []
    for place, (curve, colour) in enumerate(zip(curves, categorical(len(curves), dark), strict=True)):
        values, lows, highs = zip(*((mean.value, mean.low, mean.high) for mean in curve.scores), strict=True)
        name = token_text(curve.name)
        known = [
            at for at in range(len(values)) if lows[at] == lows[at] and highs[at] == highs[at]
        ]  # nan: of one alone
        bands.append(
            band(
                name,
                [curve.counts[at] for at in known],
                [lows[at] for at in known],
                [highs[at] for at in known],
                colour,
            )
            | {"showlegend": False}
        )
        lines.append(
            line(
                name,
                curve.counts,
                values,
                colour,
                marked=symbol(place),
                size=7,
                customdata=list(zip(lows, highs, strict=True)),
                hover=f"%{{x}} heads off: <b>%{{y:{form}}}</b>"
                + f" (%{{customdata[0]:{form}}} to %{{customdata[1]:{form}}})" * bool(known)
                + f"<extra>{name}</extra>",
            )
        )
    if baseline is not None:
        called, value = baseline
        lines.append(
            line(token_text(called), [0, n_heads], [value, value], theme(dark).muted, width=1.5, dash="dot")
            | {"showlegend": True}
        )
    return go.Figure(
        data=[*bands, *lines],
        layout=base_layout(
            dark,
            height=_HEIGHT,
            margin={"l": 8, "r": 16, "t": 16, "b": 8},
            xaxis=axis(
                dark,
                "heads that are off",
                grid=True,
                range=[-0.02 * n_heads, 1.02 * n_heads],
                dtick=1 if n_heads <= 12 else None,
                ticklabelstandoff=6,
            ),
            yaxis=score_axis(dark, token_text(score), percent=percent, ticklabelstandoff=6),
            legend=LEGEND_BELOW,
        ),
    )
