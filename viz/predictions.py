"""The answers for one mask as bars."""

from __future__ import annotations

import plotly.graph_objects as go

from model_zoo.types import MaskPrediction
from viz.layout import axis_style, base_layout, headline, token_text
from viz.palette import categorical, theme

_BAR = 25  # px


def predictions(
    answer: MaskPrediction, title: str = "", *, dark: bool = False, highest: float | None = None
) -> go.Figure:
    """Probabilities of the best tokens, best on top; the original in its own colour, below the others and with its rank
    where it is not among them. ``title`` says whose answer it is. Bars end at the ``highest`` probability, that of the
    answer if none is given.

    Trace 0; ``customdata`` holds the ids, so that a click can say which token was meant.
    """
    colours = theme(dark)
    plain, special = categorical(2, dark)
    entries = [(entry, rank) for rank, entry in enumerate(answer.best, start=1)]
    if answer.original is not None and answer.rank is not None and answer.rank > len(answer.best):
        entries.append((answer.original, answer.rank))
    original = None if answer.original is None else answer.original.id
    style = axis_style(colours) | {"fixedrange": True}
    highest = highest or max(entry.probability for entry, _ in entries)
    places = list(range(len(entries)))
    return go.Figure(
        data=[
            go.Bar(
                x=[entry.probability for entry, _ in entries],
                y=places,
                orientation="h",
                marker={"color": [special if entry.id == original else plain for entry, _ in entries]},
                text=[
                    percent(entry.probability) + (f", rank {rank:,}" if rank > len(answer.best) else "")
                    for entry, rank in entries
                ],
                textposition="outside",
                textfont={"color": colours.text, "size": 12},
                cliponaxis=False,
                customdata=[entry.id for entry, _ in entries],
                hovertext=[
                    f"{token_text(entry.token)}: {entry.probability:.6f}, rank {rank:,}" for entry, rank in entries
                ],
                hovertemplate="%{hovertext}<extra></extra>",
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}},
            )
        ],
        layout=base_layout(
            dark,
            bargap=0.25,
            dragmode=False,
            title=headline(title, dark),
            clickmode="event+select",
            height=_BAR * len(entries) + 48,
            margin={"l": 8, "r": 60, "t": 28, "b": 20},
            xaxis=style | {"range": [0, highest * 1.02 or 1], "showticklabels": False},
            yaxis=style
            | {
                "tickvals": places,
                "ticktext": [token_text(entry.token, 18) for entry, _ in entries],
                "range": [len(entries) - 0.5, -0.5],
                "ticklabelstandoff": 6,
                "automargin": True,
            },
        ),
    )


def percent(share: float) -> str:
    """Two digits that count, whatever the size: 23%, 1.4%, 0.031%, and powers of ten below."""
    value = 100 * share
    if value >= 10 or value == 0:
        return f"{value:.0f}%"
    return f"{value:.2g}%" if value >= 0.001 else f"{value:.0e}%"
