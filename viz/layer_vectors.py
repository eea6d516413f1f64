"""Figures of what layers hold without a probe: vectors in the plane, similarity of layers, movement of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from analysis.probing.results import TaskMap
from model_zoo.types import FloatArray
from viz.cell_numbers import fitting
from viz.layout import (
    axis,
    base_layout,
    columns,
    even_marks,
    layer_names,
    root_title,
    rows,
    scale_bar,
    token_text,
    tokens_across,
    weight_marks,
)
from viz.marks import LEGEND_ABOVE, cells, cells_layout
from viz.palette import Colorscale, categorical, sequential, square_root

_LONGEST_LABEL: Final = 28  # characters of a token or a model's name beside a picture
_MOST_WRITTEN_OUT: Final = 13  # layers whose similarities are written into the cells


def plane(task_map: TaskMap, *, layer: int = 0, dark: bool = False) -> go.Figure:
    """The test items in the plane of a layer's two main components, coloured by label, a slider over layers.

    Each layer has a plane of its own, so distances compare within a layer only. Raises ValueError where the
    layer does not exist.
    """
    n_layers = len(task_map.points)
    if not 0 <= layer < n_layers:
        raise ValueError(f"layer {layer} of {n_layers}")
    labels = sorted(set(task_map.labels), key=_with_numbers_in_order)
    palette = categorical(len(labels), dark)
    of_label = [np.array([name == label for name in task_map.labels]) for label in labels]
    names = layer_names(n_layers)

    def axes(layer: int) -> dict[str, Any]:
        reach = 1.08 * float(np.abs(task_map.points[layer]).max(initial=0.0)) or 1.0
        titles = [f"component {i + 1} ({task_map.explained[layer, i]:.0%} of variance)" for i in range(2)]
        return {
            f"{key}axis": axis(dark, title, grid=True, fixedrange=False, range=[-reach, reach])
            for key, title in zip("xy", titles, strict=True)
        }

    def places(layer: int) -> list[dict[str, Any]]:
        """The dots of each label where they are in a layer."""
        points = task_map.points[layer]
        return [{"type": "scatter", "x": points[members, 0], "y": points[members, 1]} for members in of_label]

    dots = [
        place
        | {
            "mode": "markers",
            "name": token_text(label),
            "marker": {"color": colour, "size": 7, "opacity": 0.8},
            "text": [
                token_text(task_map.texts[i])
                + ("" if task_map.words is None else f"<br><b>{token_text(task_map.words[i])}</b>")
                for i in np.flatnonzero(members)
            ],
            "hovertemplate": "%{text}<extra>" + token_text(label) + "</extra>",
        }
        for place, label, members, colour in zip(places(layer), labels, of_label, palette, strict=True)
    ]
    # A frame moves the dots; colours and texts stay those of the first drawing.
    frames = [{"name": names[frame], "data": places(frame), "layout": axes(frame)} for frame in range(n_layers)]
    animate = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    return go.Figure(
        data=dots,
        frames=frames,
        layout=base_layout(
            dark,
            dragmode="zoom",
            height=520,
            margin={"l": 10, "r": 10, "t": 20, "b": 10},
            legend=LEGEND_ABOVE,
            sliders=[
                {
                    "active": layer,
                    "currentvalue": {"prefix": "layer: "},
                    "pad": {"t": 40},
                    "steps": [{"label": name, "method": "animate", "args": [[name], animate]} for name in names],
                }
            ],
            **axes(layer),
        ),
    )


def _with_numbers_in_order(label: str) -> list[tuple[int, str]]:
    """Sorts "5–7 words" before "11–13 words"."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", label)]


def similarity(cka: FloatArray, names: tuple[str, str] | None = None, *, dark: bool = False) -> go.Figure:
    """Linear CKA of every pair of layers, float32 (layers + 1, layers + 1): 1 is the same up to rotation and scale.

    The layers are those of one model, or with ``names`` those of two: the first down, the second across.
    """
    down, across = ["layer"] * 2 if names is None else [f"{token_text(name, _LONGEST_LABEL)}: layer" for name in names]
    scale = sequential(dark)
    figure = _matrix(
        cka,
        (layer_names(len(cka)), down),
        (layer_names(cka.shape[1]), across),
        columns(layer_names(cka.shape[1]), dark, across, fixedrange=False),
        1.0,
        "CKA",
        scale_bar(scale, even_marks(1.0), "CKA, from 0 to 1: the same", dark),
        scale=scale,
        dark=dark,
    )
    # Similarities differ by little where all are high, so they are written out where they have the room.
    if len(cka) <= _MOST_WRITTEN_OUT:
        figure.add_traces(fitting(cka, scale, 0.0, 1.0))
    return figure


def token_movement(moved: FloatArray, tokens: Sequence[str], quantity: str, *, dark: bool = False) -> go.Figure:
    """How far each token's vector moves in each layer, (layers, n); ``quantity`` names the measure."""
    if moved.shape[1] != len(tokens):
        raise ValueError(f"movement of shape {moved.shape} does not fit {len(tokens)} tokens")
    most = float(moved.max(initial=0.0)) or 1.0
    return _matrix(
        moved,
        ([str(layer + 1) for layer in range(len(moved))], "layer"),
        ([token_text(token, _LONGEST_LABEL) for token in tokens], "token"),
        tokens_across(tokens, dark, "token", _LONGEST_LABEL, fixedrange=False),
        most,
        quantity,
        scale_bar(sequential(dark), weight_marks(most), root_title(token_text(quantity)), dark),
        scale=square_root(sequential(dark)),
        dark=dark,
    )


def _matrix(
    values: FloatArray,
    down: tuple[Sequence[str], str],
    across: tuple[Sequence[str], str],
    axis_across: dict[str, Any],
    maximum: float,
    quantity: str,
    bar: Sequence[dict[str, Any]],
    *,
    scale: Colorscale,
    dark: bool,
) -> go.Figure:
    """A heatmap of numbers from 0 to ``maximum`` with its colour bar; ``down`` and ``across`` are the names of rows and
    columns and a title for them. Names may repeat, as tokens do.
    """
    return go.Figure(
        data=[
            cells(
                values,
                scale,
                0.0,
                maximum,
                f"%{{text}}<br>{quantity} %{{z:.3f}}<extra></extra>",
                text=[[f"{across[1]} {column}<br>{down[1]} {row}" for column in across[0]] for row in down[0]],
            )
        ],
        layout=cells_layout(
            axis_across,
            rows(down[0], dark, down[1], fixedrange=False, ticklabelstandoff=0),
            bar,
            dark,
            height=max(34 * len(values) + 90, 190),
            dragmode="zoom",
        ),
    )
