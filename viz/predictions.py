"""The answers for one mask as bars."""

from __future__ import annotations

import plotly.graph_objects as go

from model_zoo.types import MaskPrediction
from viz.layout import axis, headline, token_text
from viz.marks import CLICKED_AS_BEFORE, bars_layout, horizontal_bars
from viz.palette import categorical

_BAR = 25  # px


def predictions(
    answer: MaskPrediction, title: str = "", *, dark: bool = False, highest: float | None = None
) -> go.Figure:
    """Probabilities of the best tokens, best on top; the original in its own colour, below the others and with its rank
    where it is not among them. ``title`` says whose answer it is. Bars end at the ``highest`` probability, that of the
    answer if none is given.

    Trace 0; ``customdata`` holds the ids, so that a click can say which token was meant.
    """
    plain, special = categorical(2, dark)
    entries = [(entry, rank) for rank, entry in enumerate(answer.best, start=1)]
    if answer.original is not None and answer.rank is not None and answer.rank > len(answer.best):
        entries.append((answer.original, answer.rank))
    original = None if answer.original is None else answer.original.id
    highest = highest or max(entry.probability for entry, _ in entries)
    return go.Figure(
        data=[
            horizontal_bars(
                [entry.probability for entry, _ in entries],
                [special if entry.id == original else plain for entry, _ in entries],
                [f"{token_text(entry.token)}: {entry.probability:.6f}, rank {rank:,}" for entry, rank in entries],
                dark=dark,
                texts=[
                    percent(entry.probability) + (f", rank {rank:,}" if rank > len(answer.best) else "")
                    for entry, rank in entries
                ],
                customdata=[entry.id for entry, _ in entries],
                **CLICKED_AS_BEFORE,
            )
        ],
        layout=bars_layout(
            [token_text(entry.token, 18) for entry, _ in entries],
            dark,
            title=headline(title, dark),
            clickmode="event+select",
            height=_BAR * len(entries) + 48,
            margin={"l": 8, "r": 60, "t": 28, "b": 20},
            xaxis=axis(dark, range=[0, highest * 1.02 or 1], showticklabels=False),
        ),
    )


def percent(share: float) -> str:
    """Two digits that count, whatever the size: 23%, 1.4%, 0.031%, and powers of ten below."""
    value = 100 * share
    if value >= 10 or value == 0:
        return f"{value:.0f}%"
    return f"{value:.2g}%" if value >= 0.001 else f"{value:.0e}%"
