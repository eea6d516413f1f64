"""The rank of a mask's final answer, and of the word that was masked, after every layer."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go

from model_zoo.types import MaskLens
from viz.layout import axis, base_layout, headline, token_text
from viz.marks import line, symbol
from viz.palette import categorical

_LONGEST_TOKEN = 14  # characters in the legend above the plot: it must not be wider than a narrow column
_LINE = 18  # px of the legend


def lens_ranks(
    lens: MaskLens, original: str | None = None, fitted: MaskLens | None = None, *, dark: bool = False
) -> go.Figure:
    """Ranks on a logarithmic axis, 1 at the top; the original's curve only where it is not the answer itself. With a
    ``fitted`` lens of the same mask, the ranks by either: a colour for each lens, dots for the original.
    """
    words = [("the answer", lens.answer.token, "solid")]
    if lens.original_ranks is not None and lens.original_ranks != lens.ranks:
        words.append(("what was there", original or "", "dot"))
    curves: list[tuple[str, tuple[int, ...], int, str]] = []
    for place, (by, ranking) in enumerate((("logit lens", lens), ("fitted lens", fitted))):
        if ranking is None:
            continue
        for (role, token, dash), ranks in zip(words, (ranking.ranks, ranking.original_ranks or ()), strict=False):
            written = token_text(token, _LONGEST_TOKEN)
            name = f"{role}: {written}" if fitted is None else f"{by}: {written}"
            curves.append((name, ranks, len(curves) if fitted is None else place, dash))
    colours = categorical(2, dark)
    highest = max(max(ranks) for _, ranks, _, _ in curves)
    return go.Figure(
        data=[
            line(
                name,
                list(range(len(ranks))),
                ranks,
                colours[colour],
                marked=symbol(colour if fitted else 0),
                size=7,
                dash=dash,
                hover=f"after layer %{{x}}: rank %{{y:,}}<extra>{name if fitted else ''}</extra>",
                cliponaxis=False,
            )
            for name, ranks, colour, dash in curves
        ],
        layout=base_layout(
            dark,
            height=320,
            margin={"l": 8, "r": 16, "t": 16 + _LINE * (1 + len(curves)), "b": 44},
            title=headline("Rank of the final prediction", dark),
            annotations=[
                _entry(len(curves) - 1 - place, name, colours[colour], dash)
                for place, (name, _, colour, dash) in enumerate(curves)
            ],
            xaxis=axis(dark, "layer (0: embeddings)", dtick=max(1, len(lens.ranks) // 12)),
            yaxis=axis(
                dark,
                "rank, logarithmic",
                grid=True,
                type="log",
                autorange=False,
                range=[max(0.5, math.log10(highest)) + 0.35, -0.15],
                dtick=1,
            ),
        ),
    )


def _entry(line: int, name: str, colour: str, dash: str) -> dict[str, Any]:
    """A line of the legend, counted upwards from the plot. Plotly's own legend makes the plot narrower where the figure
    is narrow; this one leaves it alone.
    """
    return {
        "text": f'<span style="color:{colour}">{"●" if dash == "solid" else "⋯"}</span> {name}',
        "showarrow": False,
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "yref": "paper",
        "y": 1,
        "yanchor": "bottom",
        "yshift": 8 + _LINE * line,
        "font": {"size": 12},
    }
