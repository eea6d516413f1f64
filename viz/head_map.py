"""One number for every head, layers down the side and heads along the top."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import axis, base_layout
from viz.marks import cells
from viz.palette import sequential, square_root
from viz.token_line import filled

_NUMBERED = 12  # heads per layer; with more the numbers would print over each other
_SMALL = 0.1  # where the highest number is below it, two digits would say next to nothing


def head_map(values: FloatArray, what: str, *, highest: float = 1.0, dark: bool = False) -> go.Figure:
    """Numbers from 0 to ``highest``, float32 (layers, heads), coloured by their square root: shares on one scale for
    all pictures, or small numbers up to the highest there is.

    nan stands for a head that its layer does not have. ``what`` names the number when a cell is hovered. Raises
    ValueError for another shape.
    """
    if values.ndim != 2:
        raise ValueError(f"one number per head is (layers, heads); got {values.shape}")
    n_layers, n_heads = values.shape
    digits = 3 if highest >= _SMALL else 5
    return go.Figure(
        data=[
            cells(
                values,
                square_root(sequential(dark)),
                0,
                highest,
                f"layer %{{y}}, head %{{x}}<br>{what}: <b>%{{z:.{digits}f}}</b><extra></extra>",
                x=list(range(1, n_heads + 1)),
                y=list(range(1, n_layers + 1)),
                xgap=2,
                ygap=2,
            ),
            *([_numbers(values, highest, dark)] if n_heads <= _NUMBERED else []),
        ],
        layout=base_layout(
            dark,
            height=30 * n_layers + 60,
            margin={"l": 8, "r": 8, "t": 8, "b": 8},
            xaxis=axis(dark, "head", side="top", dtick=1),
            yaxis=axis(dark, "layer", autorange="reversed", dtick=1),
        ),
    )


def _numbers(values: FloatArray, highest: float, dark: bool) -> go.Scatter:
    """The values as text, black or white by the colour they stand on (a heatmap's own text has one colour)."""
    scale = square_root(sequential(dark))
    cells = [(layer, head, float(value)) for (layer, head), value in np.ndenumerate(values) if not np.isnan(value)]
    return go.Scatter(
        x=[head + 1 for _, head, _ in cells],
        y=[layer + 1 for layer, _, _ in cells],
        mode="text",
        text=[_number(value, highest) for _, _, value in cells],
        textfont={"size": 10, "color": [filled("", scale, value / highest).ink for _, _, value in cells]},
        hoverinfo="skip",
    )


def _number(value: float, highest: float) -> str:
    """Two digits; of small numbers three, in the room that two take."""
    return f"{value:.2f}" if highest >= _SMALL else f"{value:.3f}".removeprefix("0")
