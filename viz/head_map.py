"""One number for every head, layers down the side and heads along the top."""

from __future__ import annotations

import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz import cell_numbers
from viz.layout import axis, root_title, scale_bar, token_text, weight_marks
from viz.marks import cells, cells_layout
from viz.palette import sequential, square_root

_NUMBERED = 12  # heads per layer; with more the numbers would print over each other
_SMALL = 0.1  # where the highest number is below it, two digits would say next to nothing


def head_map(values: FloatArray, quantity: str, *, highest: float = 1.0, dark: bool = False) -> go.Figure:
    """Numbers from 0 to ``highest``, float32 (layers, heads), coloured by their square root: shares on one scale for
    all pictures, or small numbers up to the highest there is.

    nan stands for a head that its layer does not have. ``quantity`` names the number, with its unit. Raises ValueError
    for another shape.
    """
    if values.ndim != 2:
        raise ValueError(f"one number per head is (layers, heads); got {values.shape}")
    n_layers, n_heads = values.shape
    scale = square_root(sequential(dark))
    numbers = cell_numbers.of_size(values, lambda cell: _number(float(values[cell]), highest), scale, highest, 11, 1)
    digits = 3 if highest >= _SMALL else 5
    return go.Figure(
        data=[
            cells(
                values,
                scale,
                0,
                highest,
                f"layer %{{y}}, head %{{x}}<br>{quantity}: <b>%{{z:.{digits}f}}</b><extra></extra>",
                x=list(range(1, n_heads + 1)),
                y=list(range(1, n_layers + 1)),
                xgap=2,
                ygap=2,
            ),
            *([numbers] if n_heads <= _NUMBERED else []),
        ],
        layout=cells_layout(
            axis(dark, "head", dtick=1),
            axis(dark, "layer", autorange="reversed", dtick=1),
            scale_bar(sequential(dark), weight_marks(highest), root_title(token_text(quantity)), dark),
            dark,
            height=30 * n_layers + 60,
        ),
    )


def _number(value: float, highest: float) -> str:
    """Two digits, of small numbers three, in the room that a cell has on a phone: without the 0 before the point."""
    return f"{value:.{2 if highest >= _SMALL else 3}f}".removeprefix("0")
