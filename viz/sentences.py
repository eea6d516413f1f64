"""How alike sentences are: the matrix of cosines, the plane, and agreement with scored pairs by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.cell_numbers import fitting
from viz.layout import (
    axis,
    base_layout,
    clipped,
    columns,
    component_axis,
    even_marks,
    layer_names,
    rows,
    scale_bar,
    token_text,
)
from viz.marks import LEGEND_BELOW, cells, cells_layout, line, symbol, texts_outside
from viz.palette import categorical, diverging

_LONGEST_LABEL: Final = 20  # characters beside the matrix: a phone has room for them and the colour bar
_LONGEST_HOVER: Final = 90
_NUMBERED: Final = 25  # sentences; with more the numbers would be too small to read


def cosine_matrix(cosines: FloatArray, sentences: Sequence[str], *, dark: bool = False) -> go.Figure:
    """The cosine of every pair, (n, n), on the scale −1 to 1. Raises ValueError where it does not fit the sentences."""
    n = len(sentences)
    if cosines.shape != (n, n):
        raise ValueError(f"cosines of shape {cosines.shape} do not fit {n} sentences")
    scale = diverging(dark)
    numbers = [str(place + 1) for place in range(n)]
    full_names = [token_text(clipped(sentence, _LONGEST_HOVER)) for sentence in sentences]
    labels = [
        f"{token_text(sentence, _LONGEST_LABEL)}  {number}" for sentence, number in zip(sentences, numbers, strict=True)
    ]
    return go.Figure(
        data=[
            cells(
                cosines,
                scale,
                -1,
                1,
                "%{customdata}<br>cosine <b>%{z:.3f}</b><extra></extra>",
                customdata=[[f"{row}<br>{column}" for column in full_names] for row in full_names],
            ),
            *(fitting(cosines, scale, -1, 1) if n <= _NUMBERED else []),
        ],
        layout=cells_layout(
            columns(numbers, dark, "sentence, by its number", ticklabelstandoff=4),
            rows(labels, dark, "sentence", ticklabelstandoff=4),
            scale_bar(scale, even_marks(1.0, signed=True), "cosine", dark),
            dark,
            height=max(120, min(30 * n, 900)) + 52,
        ),
    )


def in_the_plane(
    points: FloatArray, explained: tuple[float, float], sentences: Sequence[str], *, dark: bool = False
) -> go.Figure:
    """Sentences as points (n, 2), each with its number and its words when it is hovered."""
    return go.Figure(
        data=[
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": points[:, 0].tolist(),
                "y": points[:, 1].tolist(),
                **texts_outside([str(place + 1) for place in range(len(sentences))], dark, "top center"),
                "marker": {"color": categorical(1, dark)[0], "size": 9},
                "customdata": [token_text(clipped(sentence, _LONGEST_HOVER)) for sentence in sentences],
                "hovertemplate": "%{text}: %{customdata}<extra></extra>",
            }
        ],
        layout=base_layout(
            dark,
            height=440,
            margin={"l": 8, "r": 16, "t": 28, "b": 8},
            xaxis=component_axis(dark, 0, explained),
            yaxis=component_axis(dark, 1, explained),
        ),
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """How vectors of one kind rank scored pairs: (layer, Spearman's ρ, low, high) each, NaN where ρ is not defined.
    ``varied`` says that something was done to them, for which the line of ``name`` is drawn dotted.
    """

    name: str
    varied: bool
    points: Sequence[tuple[int, float, float, float]]


def rho_by_layer(rankings: Sequence[Ranking], varied: str, *, dark: bool = False) -> go.Figure:
    """Spearman's ρ by layer, a line for each ranking, with its interval when hovered; lines of one name have one
    colour. ``varied`` says in a few words what was done for those that are dotted.

    Raises ValueError without any.
    """
    if not rankings:
        raise ValueError("there is nothing to draw: no pooling was measured")
    names = list(dict.fromkeys(ranking.name for ranking in rankings))
    palette = categorical(len(names), dark)
    n_layers = 1 + max(layer for ranking in rankings for layer, *_ in ranking.points)
    traces = []
    for ranking in rankings:
        place = names.index(ranking.name)
        called = token_text(f"{ranking.name}, {varied}" if ranking.varied else ranking.name)
        traces.append(
            line(
                called,
                [layer for layer, *_ in ranking.points],
                [None if isnan(rho) else rho for _, rho, _, _ in ranking.points],
                palette[place],
                dash="dot" if ranking.varied else "solid",
                marked=f"{symbol(place)}-open" if ranking.varied else symbol(place),
                size=9,
                customdata=[[low, high] for _, _, low, high in ranking.points],
                hover="layer %{x}: <b>%{y:.3f}</b> (%{customdata[0]:.2f} to %{customdata[1]:.2f})"
                f"<extra>{called}</extra>",
            )
        )
    return go.Figure(
        data=traces,
        layout=base_layout(
            dark,
            height=380,
            margin={"l": 8, "r": 16, "t": 16, "b": 8},
            xaxis=columns(layer_names(n_layers), dark, "layer", showgrid=True),
            yaxis=axis(dark, "Spearman’s ρ with the scores", grid=True),
            legend=LEGEND_BELOW,
        ),
    )
