"""Numbers on a heatmap's cells, black or white by the colour they stand on: as large as fits, or of one size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from model_zoo.types import FloatArray
from viz.palette import Colorscale
from viz.token_line import filled

_CLEAR = "rgba(0,0,0,0)"


def fitting(values: FloatArray, colours: Colorscale, lowest: float, highest: float) -> list[dict[str, Any]]:
    """Traces to lay over a heatmap of the values at places 0, 1, 2, … with this scale; two digits.

    A heatmap fits its own text to its cells, but sets it all in one colour, or in a grey with too little contrast: here
    a clear one is laid over it for each of black and white.
    """
    ink = np.array(
        [
            [filled("", colours, (float(v) - lowest) / (highest - lowest)).ink for v in row]
            for row in np.nan_to_num(values)
        ]
    ).reshape(values.shape)
    return [
        {
            "type": "heatmap",
            "z": np.where(ink == colour, values, np.nan),
            "x": list(range(values.shape[1])),
            "y": list(range(values.shape[0])),
            "colorscale": [[0, _CLEAR], [1, _CLEAR]],
            "showscale": False,
            "hoverinfo": "skip",
            "hoverongaps": False,
            "texttemplate": "%{z:.2f}",
            "textfont": {"color": str(colour)},
        }
        for colour in np.unique(ink)
    ]


def of_size(
    values: FloatArray,
    text: Callable[[tuple[int, ...]], str],
    scale: Colorscale,
    highest: float,
    size: int,
    first: int = 0,
) -> dict[str, Any]:
    """A trace to lay over a heatmap of values from 0 to ``highest`` at places from ``first`` on, with this scale: what
    ``text`` gives for the row and column of a cell, in px of ``size``. A cell that is nan has none.
    """
    cells = [cell for cell, value in np.ndenumerate(values) if not np.isnan(value)]
    return {
        "type": "scatter",
        "mode": "text",
        "x": [cell[1] + first for cell in cells],
        "y": [cell[0] + first for cell in cells],
        "text": [text(cell) for cell in cells],
        "textfont": {"size": size, "color": [filled("", scale, float(values[cell]) / highest).ink for cell in cells]},
        "hoverinfo": "skip",
    }
