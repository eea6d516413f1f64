"""How alike sentences are: the matrix of cosines, the plane, and agreement with scored pairs by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Final

import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.cell_numbers import fitting
from viz.layout import COLOUR_BAR_SPACE, axis_style, base_layout, clipped, layer_names, scale_bar, token_text
from viz.palette import categorical, diverging, theme

_LONGEST_LABEL: Final = 24  # characters beside the matrix: a phone has room for them and the colour bar
_LONGEST_HOVER: Final = 90
_NUMBERED: Final = 25  # sentences; with more the numbers would be too small to read
_SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up")


def cosine_matrix(cosines: FloatArray, sentences: Sequence[str], *, dark: bool = False) -> go.Figure:
    """The cosine of every pair, (n, n), on the scale −1 to 1. Raises ValueError where it does not fit the sentences."""
    n = len(sentences)
    if cosines.shape != (n, n):
        raise ValueError(f"cosines of shape {cosines.shape} do not fit {n} sentences")
    scale = diverging(dark)
    style: dict[str, Any] = axis_style(theme(dark)) | {"fixedrange": True, "automargin": True, "ticklabelstandoff": 4}
    places = list(range(n))
    numbers = [str(place + 1) for place in places]
    whole = [token_text(clipped(sentence, _LONGEST_HOVER)) for sentence in sentences]
    cells = {
        "type": "heatmap",
        "z": cosines,
        "x": places,
        "y": places,
        "zmin": -1,
        "zmax": 1,
        "colorscale": scale,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "customdata": [[f"{row}<br>{column}" for column in whole] for row in whole],
        "hovertemplate": "%{customdata}<br>cosine <b>%{z:.3f}</b><extra></extra>",
    }
    labels = [
        f"{token_text(sentence, _LONGEST_LABEL)}  {number}" for sentence, number in zip(sentences, numbers, strict=True)
    ]
    return go.Figure(
        data=[cells, *(fitting(cosines, scale, -1, 1) if n <= _NUMBERED else [])],
        layout=base_layout(
            dark,
            shapes=scale_bar(scale[::2], [(0, "−1"), (0.5, "0"), (1, "1")], "cosine", dark),
            dragmode=False,
            height=max(120, min(30 * n, 900)) + 52 + COLOUR_BAR_SPACE,
            margin={"l": 8, "r": 8, "t": 52, "b": COLOUR_BAR_SPACE},  # the button that saves it is above the numbers
            xaxis=style | {"tickvals": places, "ticktext": numbers, "side": "top"},
            yaxis=style | {"tickvals": places, "ticktext": labels, "autorange": "reversed"},
        ),
    )


def in_the_plane(
    points: FloatArray, explained: tuple[float, float], sentences: Sequence[str], *, dark: bool = False
) -> go.Figure:
    """Sentences as points (n, 2), each with its number and its words when it is hovered."""
    colours = theme(dark)
    style = axis_style(colours) | {"fixedrange": True, "showgrid": True, "gridcolor": colours.line,
                                   "showticklabels": False, "automargin": True}  # fmt: skip

    def axis(which: int) -> dict[str, Any]:
        title = f"component {which + 1} ({explained[which]:.0%} of the variance)"
        return style | {"title": style["title"] | {"text": title}}

    return go.Figure(
        data=[
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": points[:, 0].tolist(),
                "y": points[:, 1].tolist(),
                "text": [str(place + 1) for place in range(len(sentences))],
                "textposition": "top center",
                "textfont": {"color": colours.text, "size": 12},
                "cliponaxis": False,
                "marker": {"color": categorical(1, dark)[0], "size": 9},
                "customdata": [token_text(clipped(sentence, _LONGEST_HOVER)) for sentence in sentences],
                "hovertemplate": "%{text}: %{customdata}<extra></extra>",
            }
        ],
        layout=base_layout(
            dark,
            height=440,
            dragmode=False,
            margin={"l": 8, "r": 16, "t": 28, "b": 8},
            xaxis=axis(0),
            yaxis=axis(1),
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
    colours = theme(dark)
    names = list(dict.fromkeys(each.name for each in rankings))
    palette = categorical(len(names), dark)
    n_layers = 1 + max(layer for each in rankings for layer, *_ in each.points)
    axis = axis_style(colours) | {"fixedrange": True, "automargin": True, "showgrid": True, "gridcolor": colours.line}
    traces = []
    for each in rankings:
        place = names.index(each.name)
        called = token_text(f"{each.name}, {varied}" if each.varied else each.name)
        symbol = _SYMBOLS[place % len(_SYMBOLS)]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": called,
                "x": [layer for layer, *_ in each.points],
                "y": [None if isnan(rho) else rho for _, rho, _, _ in each.points],
                "line": {"color": palette[place], "width": 2, "dash": "dot" if each.varied else "solid"},
                "marker": {"color": palette[place], "symbol": f"{symbol}-open" if each.varied else symbol, "size": 9},
                "customdata": [[low, high] for _, _, low, high in each.points],
                "hovertemplate": "layer %{x}: <b>%{y:.3f}</b> (%{customdata[0]:.2f} to %{customdata[1]:.2f})"
                f"<extra>{called}</extra>",
            }
        )
    return go.Figure(
        data=traces,
        layout=base_layout(
            dark,
            height=380,
            dragmode=False,
            margin={"l": 8, "r": 16, "t": 16, "b": 8},
            xaxis=axis
            | {"tickvals": list(range(n_layers)), "ticktext": layer_names(n_layers),
               "title": axis["title"] | {"text": "layer"}},
            yaxis=axis | {"title": axis["title"] | {"text": "Spearman’s ρ with the scores"}},
        )
        | {"showlegend": True, "legend": {"orientation": "h", "x": 0, "yref": "container", "y": 0}},
    )  # fmt: skip
