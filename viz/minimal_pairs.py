"""How often the right one of two sentences was preferred: a point and its interval for each phenomenon."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from analysis.minimal_pairs import Accuracy
from viz.layout import axis, token_text
from viz.marks import bars_layout, error_bars
from viz.palette import categorical, theme

_LINE = 26  # px
_LONGEST_NAME = 34  # characters


def accuracy_bars(rows: Sequence[Accuracy], *, dark: bool = False) -> go.Figure:
    """Accuracy (0 to 100%) with its 95% interval, the first row on top; a dotted line at the level of guessing."""
    (plain,) = categorical(1, dark)
    names = [row.paradigm or row.phenomenon or "all pairs" for row in rows]
    accuracies = [row.accuracy for row in rows]
    figure = go.Figure(
        data=[
            {
                "type": "scatter",
                "mode": "markers",
                "x": accuracies,
                "y": list(range(len(rows))),
                "marker": {"color": plain, "size": 10},
                "error_x": error_bars(accuracies, [row.low for row in rows], [row.high for row in rows], plain, 2),
                "customdata": [[row.n, row.low, row.high] for row in rows],
                "hovertext": [token_text(name) for name in names],
                "hovertemplate": "%{hovertext}: %{x:.1%} of %{customdata[0]:,} pairs"
                "<br>95% interval %{customdata[1]:.0%} to %{customdata[2]:.0%}<extra></extra>",
                "cliponaxis": False,
            }
        ],
        layout=bars_layout(
            [token_text(name, _LONGEST_NAME) for name in names],
            dark,
            height=_LINE * len(rows) + 76,
            margin={"l": 8, "r": 16, "t": 28, "b": 44},
            xaxis=axis(
                dark, "correct sentence preferred (dotted: guessing)", grid=True, range=[-0.02, 1.02], tickformat=".0%"
            ),
        ),
    )
    figure.add_vline(0.5, line={"color": theme(dark).muted, "dash": "dot", "width": 1})
    return figure
