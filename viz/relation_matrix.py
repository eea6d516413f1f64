"""How often each head finds the partner of a word in each relation: relations down the side, heads along the top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import DoubleArray
from viz.head_measure import Head
from viz.layout import axis, columns, rows, scale_bar, token_text
from viz.marks import CLICKED_AS_BEFORE, points
from viz.matrix import cells, line_before, matrix_figure, sized_numbers
from viz.palette import sequential, theme

_ROW: Final = 22  # px
_ABOVE: Final = 96  # px of the names above
_LONGEST_NAME: Final = 34
_BESIDE: Final = 0.22  # of the width, for the columns beside the heads
_BETWEEN: Final = 0.015
_PARTED: Final = 48  # columns; more have no room for gaps between them
_MARKS: Final = ((0.0, "0%"), (0.5, "50%"), (1.0, "100%"))


def relation_matrix(
    heads: Sequence[Head],
    relations: Sequence[str],
    values: DoubleArray,
    lows: DoubleArray,
    highs: DoubleArray,
    best: Sequence[int],
    beside: Mapping[str, Sequence[float]],
    *,
    chosen: tuple[int, int] | None = None,
    quantity: str = "found",
    dark: bool = False,
) -> go.Figure:
    """Shares from 0 to 1 (relations, heads) with the ends of their intervals, drawn and told in percent.

    ``best`` is the place of each relation's best head, which a diamond marks. ``beside`` are numbers of each relation
    that stand before the heads, by name: of the best head and of what it is compared with; nan for none. ``chosen`` is
    a cell, (relation, place of the head), with a ring. ``quantity`` names a share. ``customdata`` of the cells that can
    be clicked, trace 1, begins with (relation, layer, head), all from 0. Raises ValueError where shapes differ.
    """
    shape = len(relations), len(heads)
    if {values.shape, lows.shape, highs.shape} != {shape} or {len(best), *map(len, beside.values())} != {shape[0]}:
        raise ValueError(f"{shape[0]} relations and {shape[1]} heads are wanted; got {values.shape}")
    names = [token_text(name, _LONGEST_NAME) for name in relations]
    share = max(_BESIDE, len(beside) / (len(beside) + len(heads))) if beside else 0.0
    layers = [
        (layer, [at for at, _ in group])
        for layer, group in groupby(enumerate(heads), lambda place_and_head: place_and_head[1][0])
    ]
    columns_beside = np.array(list(beside.values()), dtype=float).reshape(len(beside), shape[0]).T
    ringed = [chosen] if chosen is not None else []
    colours = theme(dark)
    shares: Any = np.round(100 * values).astype(np.uint8)
    gap = 1 if len(heads) <= _PARTED else 0
    data: list[dict[str, Any]] = [
        cells(shares, sequential(dark), 0, 100, "", xgap=gap, hoverinfo="skip"),
        _cells(heads, values, lows, highs),
        _marks(list(enumerate(best)), "diamond", 8, colours.background, colours.text),
        _marks(ringed, "square-open", 16, colours.primary, colours.primary),
    ]
    if beside:
        hover = "%{y}<br>%{x}: <b>%{z:.1%}</b><extra></extra>"
        data += [
            cells(columns_beside, sequential(dark), 0, 1, hover, xaxis="x2", hoverongaps=False),
            sized_numbers(columns_beside, lambda cell: f"{columns_beside[cell]:.0%}", sequential(dark), 1.0, 11)
            | {"xaxis": "x2"},
        ]
    figure = matrix_figure(
        data,
        axis(
            dark,
            "heads, by layer",
            domain=[share + _BETWEEN if beside else 0, 1],
            range=[-0.5, len(heads) - 0.5],
            tickvals=[(places[0] + places[-1]) / 2 for _, places in layers],
            ticktext=[str(layer + 1) for layer, _ in layers],
        ),
        rows(names, dark, "relation", anchor="x2" if beside else "x"),
        scale_bar(sequential(dark), _MARKS, quantity, dark),
        dark,
        height=_ROW * shape[0] + _ABOVE,
        shapes=[line_before(places[0], colours.muted) for _, places in layers[1:]],
        clickmode="event+select",
    )
    if beside:
        figure.update_layout(
            xaxis2=columns(
                [token_text(name) for name in beside],
                dark,
                "best and baselines",
                domain=[0, share],
                range=[-0.5, len(beside) - 0.5],
                side="top",
                anchor="y",
                tickangle=-90,
                ticklabelstandoff=4,
            )
        )
    return figure


def _cells(heads: Sequence[Head], values: DoubleArray, lows: DoubleArray, highs: DoubleArray) -> dict[str, Any]:
    """Squares that cannot be seen over the cells: Plotly does not say which cell of a heatmap was clicked. What they
    tell is put together in the browser, since a sentence for each of some thousand cells would be most of the page.
    """
    percents = [np.round(100 * shares).astype(int).tolist() for shares in (values, lows, highs)]
    at = np.indices(values.shape).reshape(2, -1).T
    customdata = [
        (row, layer, head, layer + 1, head + 1, *(shares[row][column] for shares in percents))
        for row, column in at.tolist()
        for layer, head in [heads[column]]
    ]
    return points(
        at[:, 1].astype(np.min_scalar_type(len(heads))),
        at[:, 0].astype(np.min_scalar_type(len(values))),
        {"symbol": "square", "size": 8, "opacity": 0},
        "%{y}<br>Layer %{customdata[3]}, head %{customdata[4]}: <b>%{customdata[5]}%</b> "
        "(%{customdata[6]}% to %{customdata[7]}%)<extra></extra>",
        customdata=customdata,
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
    )


def _marks(places: Sequence[tuple[int, int]], form: str, size: int, colour: str, line: str) -> dict[str, Any]:
    marker = {"symbol": form, "size": size, "color": colour, "line": {"width": 1.5, "color": line}}
    x, y = [column for _, column in places], [row for row, _ in places]
    return points(x, y, marker, None, **CLICKED_AS_BEFORE)
