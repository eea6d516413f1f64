"""The guesses of several models for one mask as bars, a figure for each model, all on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import plotly.graph_objects as go

from analysis.agreement import readable
from model_zoo.types import MaskPrediction, Prediction
from viz.layout import token_text
from viz.predictions import predictions

_LONGEST = 18  # characters of a token beside its bar
_LONGEST_NAME = 28


def guesses(answers: Mapping[str, MaskPrediction], top: int, *, dark: bool = False) -> dict[str, go.Figure]:
    """The ``top`` best tokens of every model with their probabilities, by the name of the model, which is the title.

    Bars of the same length mean the same probability in all of the figures: the longest is that of the likeliest
    guess of all. Tokens are written as they read in a text; where two of them would read alike, such as "Ġin" and
    "in", as they are in the vocabulary, which is what pointing at a bar tells, too.
    """
    shown = {name: replace(answer, best=answer.best[:top]) for name, answer in answers.items()}
    highest = max((entry.probability for answer in shown.values() for entry in answer.best), default=0.0)
    figures = {}
    for name, answer in shown.items():
        figure = predictions(answer, dark=dark)
        figure.update_xaxes(range=[0, highest * 1.02 or 1])
        figure.update_yaxes(ticktext=[token_text(token, _LONGEST) for token in names(answer.best)])
        title = {
            "font": {"size": 15},
            "text": f"<b>{token_text(name, _LONGEST_NAME)}</b>",
            "x": 0,
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 4},
        }
        figure.update_layout(title=title, margin={"b": 4}, height=figure.layout.height - 16)
        figures[name] = figure
    return figures


def names(entries: Sequence[Prediction]) -> list[str]:
    """Tokens as they read in a text, told apart where that is the same."""
    read = [readable(entry.token) for entry in entries]
    return [name if name and read.count(name) == 1 else entry.token for name, entry in zip(read, entries, strict=True)]
