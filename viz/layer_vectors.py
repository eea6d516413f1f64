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
from viz.layout import axis_style, base_layout, layer_names, token_text
from viz.palette import categorical, sequential, square_root, theme

_LONGEST_LABEL: Final = 28  # characters of a token or a model's name beside a picture
_MOST_WRITTEN_OUT: Final = 13  # layers whose similarities are written into the cells


def plane(found: TaskMap, *, layer: int = 0, dark: bool = False) -> go.Figure:
    """The test items in the plane of a layer's two main components, coloured by label, a slider over layers.

    Each layer has a plane of its own, so distances compare within a layer only. Raises ValueError where the
    layer does not exist.
    """
    n_layers = len(found.points)
    if not 0 <= layer < n_layers:
        raise ValueError(f"layer {layer} of {n_layers}")
    colours = theme(dark)
    labels = sorted(set(found.labels), key=_with_numbers_in_order)
    palette = categorical(len(labels), dark)
    of_label = [np.array([name == label for name in found.labels]) for label in labels]
    names = layer_names(n_layers)

    def axes(shown: int) -> dict[str, Any]:
        reach = 1.08 * float(np.abs(found.points[shown]).max(initial=0.0)) or 1.0
        titles = [f"component {i + 1} ({found.explained[shown, i]:.0%} of variance)" for i in range(2)]
        return {
            f"{key}axis": {"range": [-reach, reach], "title": {"text": title}}
            for key, title in zip("xy", titles, strict=True)
        }

    def places(shown: int) -> list[dict[str, Any]]:
        """Where the dots of each label are."""
        points = found.points[shown]
        return [{"type": "scatter", "x": points[members, 0], "y": points[members, 1]} for members in of_label]

    dots = [
        place
        | {
            "mode": "markers",
            "name": token_text(label),
            "marker": {"color": colour, "size": 7, "opacity": 0.8},
            "text": [
                token_text(found.texts[i]) + ("" if found.words is None else f"<br><b>{token_text(found.words[i])}</b>")
                for i in np.flatnonzero(members)
            ],
            "hovertemplate": "%{text}<extra>" + token_text(label) + "</extra>",
        }
        for place, label, members, colour in zip(places(layer), labels, of_label, palette, strict=True)
    ]
    # A frame moves the dots; colours and texts stay those of the first drawing.
    frames = [{"name": names[shown], "data": places(shown), "layout": axes(shown)} for shown in range(n_layers)]
    animate = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    axis = {**axis_style(colours), "showgrid": True, "gridcolor": colours.line, "automargin": True}
    figure = go.Figure(data=dots, frames=frames)
    figure.update_layout(
        base_layout(dark, height=520, margin={"l": 10, "r": 10, "t": 20, "b": 10}, xaxis=dict(axis), yaxis=dict(axis))
    )
    figure.update_layout(axes(layer))
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        sliders=[
            {
                "active": layer,
                "currentvalue": {"prefix": "layer: "},
                "pad": {"t": 40},
                "steps": [{"label": name, "method": "animate", "args": [[name], animate]} for name in names],
            }
        ],
    )
    return figure


def _with_numbers_in_order(label: str) -> list[tuple[int, str]]:
    """Sorts "5–7 words" before "11–13 words"."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", label)]


def similarity(cka: FloatArray, names: tuple[str, str] | None = None, *, dark: bool = False) -> go.Figure:
    """Linear CKA of every pair of layers, float32 (layers + 1, layers + 1): 1 is the same up to rotation and scale.

    The layers are those of one model, or with ``names`` those of two: the first down, the second across.
    """
    rows, columns = ["layer"] * 2 if names is None else [f"{token_text(name, _LONGEST_LABEL)}: layer" for name in names]
    return _matrix(
        cka,
        rows=layer_names(len(cka)),
        columns=layer_names(cka.shape[1]),
        maximum=1.0,
        what="CKA",
        row_title=rows,
        column_title=columns,
        square=True,
        dark=dark,
    )


def token_movement(moved: FloatArray, tokens: Sequence[str], what: str, *, dark: bool = False) -> go.Figure:
    """How far each token's vector moves in each layer, (layers, n); ``what`` names the measure."""
    if moved.shape[1] != len(tokens):
        raise ValueError(f"movement of shape {moved.shape} does not fit {len(tokens)} tokens")
    return _matrix(
        moved,
        rows=[str(layer + 1) for layer in range(len(moved))],
        columns=[token_text(token, _LONGEST_LABEL) for token in tokens],
        maximum=float(moved.max(initial=0.0)) or 1.0,
        what=what,
        row_title="layer",
        column_title="",
        square=False,
        dark=dark,
    )


def _matrix(
    values: FloatArray,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    maximum: float,
    what: str,
    row_title: str,
    column_title: str,
    square: bool,
    dark: bool,
) -> go.Figure:
    """A heatmap over numbered axes: names may repeat, as tokens do."""
    axis = axis_style(theme(dark))
    scale = sequential(dark) if square else square_root(sequential(dark))
    hover = [[f"{column_title} {column}<br>{row_title} {row}".lstrip() for column in columns] for row in rows]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            zmin=0.0,
            zmax=maximum,
            colorscale=scale,
            text=hover,
            hovertemplate="%{text}<br>" + what + " %{z:.3f}<extra></extra>",
            xgap=1,
            ygap=1,
            colorbar={"title": {"text": what, "side": "right"}, "thickness": 10, "outlinewidth": 0},
        )
    )
    # Similarities differ by little where all are high, so they are written out where they have the room.
    if square and len(rows) <= _MOST_WRITTEN_OUT:
        figure.add_traces(fitting(values, scale, 0.0, maximum))
    figure.update_layout(
        base_layout(
            dark,
            height=max(34 * len(rows) + 120, 220),
            margin={"l": 10, "r": 10, "t": 20, "b": 10},
            xaxis={
                **axis,
                "tickvals": list(range(len(columns))),
                "ticktext": list(columns),
                "title": {**axis["title"], "text": column_title},
                "automargin": True,
            },
            yaxis={
                **axis,
                "tickvals": list(range(len(rows))),
                "ticktext": list(rows),
                "range": [len(rows) - 0.5, -0.5],
                "title": {**axis["title"], "text": row_title},
                "automargin": True,
            },
        )
    )
    return figure
