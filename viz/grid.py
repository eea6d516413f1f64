"""All heads of all layers as one picture, one row per layer; clicking a cell chooses that head."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from viz.layout import COLOUR_BAR_SPACE, axis_style, base_layout, colour_bar
from viz.palette import Colorscale, sequential, theme

_LARGEST_CELL: Final = 92  # px
_SMALLEST_CELL: Final = 36  # px
_LARGEST_HEIGHT: Final = 840  # px of all cells together
_FILLS_FROM: Final = 8  # heads per layer; with fewer the cells stay square instead of filling the width


def grid(
    thumbnails: npt.NDArray[np.uint8],
    *,
    selected: tuple[int, int] | None = None,
    dark: bool = False,
    width: int = 1100,
    maximum: float = 1.0,
    what: str = "attention weight",
) -> go.Figure:
    """Thumbnails uint8 (layers, heads, s_q, s_k) of value 255·√(weight / maximum) as one mosaic, one colour
    scale for all; ``what`` names the weights on the colour bar.

    ``selected`` (layer, head), counted from 0, has a frame. The figure fills its container; ``width`` is the
    px it will have on a desktop and sets the height, so that cells come out about square there.

    A click on a heatmap selects nothing, so there is a marker on each cell's centre, and the nearest one takes the
    click: trace 1, ``customdata`` [layer, head], counted from 0. The marker is the frame, and shows when it is
    selected: the browser moves the frame by itself, and the figure need not be sent again. Raises ValueError
    for a shape that is not a grid of pictures.
    """
    if thumbnails.ndim != 4 or 0 in thumbnails.shape:
        raise ValueError(f"thumbnails have shape (layers, heads, s_q, s_k); got {thumbnails.shape}")
    n_layers, n_heads, rows, columns = thumbnails.shape
    colours = theme(dark)
    # Few tokens make few pixels: enlarge them, so that the gaps beside them stay thin and cells nearly square.
    enlarged = thumbnails.repeat(max(1, 48 // rows), axis=2).repeat(max(1, 48 // columns), axis=3)
    rows, columns = enlarged.shape[2:]
    gap = max(2, round(max(rows, columns) / 20))
    down, across = rows + gap, columns + gap  # from a cell to the next, in pixels of the mosaic
    cell = min(_LARGEST_CELL, width / n_heads, max(_SMALLEST_CELL, _LARGEST_HEIGHT / n_layers))

    # One image-like trace of bytes: 0 is kept for the gaps, so the smallest weight shown is 1/255 squared.
    mosaic = np.zeros((n_layers, down, n_heads, across), dtype=np.uint8)
    mosaic[:, :rows, :, :columns] = np.maximum(enlarged, 1).transpose(0, 2, 1, 3)
    mosaic = mosaic.reshape(n_layers * down, n_heads * across)[:-gap, :-gap]

    centre_y, centre_x = (rows - 1) / 2, (columns - 1) / 2
    layers, heads = (index.ravel() for index in np.indices((n_layers, n_heads)))
    style = axis_style(colours) | {"fixedrange": True, "automargin": True}
    square = {"scaleanchor": "x"} if n_heads < _FILLS_FROM else {}
    return go.Figure(
        data=[
            {
                "type": "heatmap",
                "z": mosaic,
                "zmin": 0,
                "zmax": 255,
                "colorscale": _with_gap(sequential(dark), colours.line),
                "showscale": False,
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "x": heads * across + centre_x,
                "y": layers * down + centre_y,
                "mode": "markers",
                "marker": {
                    "symbol": "square-open",
                    "size": 0.9 * min(cell, width / n_heads),
                    "line": {"width": 3},
                    "color": colours.primary,
                    "opacity": 0,
                },
                "selectedpoints": [] if selected is None else [selected[0] * n_heads + selected[1]],
                "selected": {"marker": {"opacity": 1}},
                "unselected": {"marker": {"opacity": 0}},
                # As a list: rows of a typed array come back from the browser as objects.
                "customdata": np.stack([layers, heads], axis=1).tolist(),
                "text": [f"Layer {layer + 1}, head {head + 1}" for layer, head in zip(layers, heads, strict=True)],
                "hovertemplate": "%{text}<extra></extra>",
            },
        ],
        layout=base_layout(
            dark,
            shapes=colour_bar(dark, maximum, what),
            # The nearest centre takes hover and click, however far: a click anywhere in a cell counts.
            hovermode="closest",
            hoverdistance=-1,
            clickmode="event+select",
            dragmode=False,
            margin={"l": 8, "r": 12, "t": 8, "b": COLOUR_BAR_SPACE},
            height=round(cell * n_layers) + 28 + COLOUR_BAR_SPACE,
            xaxis=style
            | {
                "side": "top",
                "range": [-gap, n_heads * across - 1],
                "tickvals": np.arange(n_heads) * across + centre_x,
                "ticktext": [str(head + 1) for head in range(n_heads)],
                "tickangle": 0,
                "constrain": "domain",
                "constraintoward": "left",
                "title": style["title"] | {"text": "head"},
            },
            yaxis=style
            | {
                "range": [n_layers * down - 1, -gap],
                "tickvals": np.arange(n_layers) * down + centre_y,
                "ticktext": [str(layer + 1) for layer in range(n_layers)],
                "constrain": "domain",
                "constraintoward": "top",
                "title": style["title"] | {"text": "layer"},
            }
            | square,
        ),
    )


def _with_gap(scale: Colorscale, gap: str) -> Colorscale:
    """A scale over the bytes 0..255 in which 0 is the colour between the cells."""
    edge = 0.5 / 255
    return ((0.0, gap), (edge, gap), (edge, scale[0][1]), *scale[1:])
