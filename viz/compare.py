"""Two models in one figure: the difference of their attention, and which heads behave alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Unpack

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.heatmap import Number, Options, Payload, matrix
from viz.layout import axis, root_title, scale_bar, token_text, visible_text
from viz.marks import cells, cells_layout
from viz.palette import diverging, sequential, square_root, theme

_LONGEST_NAME: Final = 30  # characters of a model's name beside a figure
_LARGEST_SIDE: Final = 250  # px of all heads together
_LARGEST_HEAD: Final = 14  # px
_LARGEST_LAYER: Final = 28  # px


def difference(
    a: FloatArray,
    b: FloatArray,
    words: Sequence[str],
    keys: Sequence[str],
    *,
    names: tuple[str, str],
    stretch: bool = False,
    file: str = "difference",
    **options: Unpack[Options],
) -> Payload:
    """Where one model's attention is larger (blue) or smaller (orange) than another's: A − B, float32 (words, keys).

    Colours follow the square root of the difference on the scale −1..1, the same for every pair; ``stretch`` sets
    its ends to the largest difference there is instead. A cell also states both weights. ``options`` are those of a
    heatmap. Raises ValueError when the shapes do not fit.
    """
    if a.shape != b.shape:
        raise ValueError(f"weights of shapes {a.shape} and {b.shape} are not on the same words")
    values = a - b
    reach = float(np.abs(values).max(initial=0.0)) if stretch else 1.0
    reach = reach or 1.0  # two equal matrices have no difference to stretch to
    return matrix(
        np.stack([values, a, b]),
        words,
        keys,
        numbers=[
            Number(name="difference", signed=True),
            *(Number(name=visible_text(name), signed=False) for name in names),
        ],
        limits=(-reach, reach),
        bend="root both ways",
        scales=(diverging(dark=False), diverging(dark=True)),
        marks=[(place, f"{value * reach:+.3g}".replace("-", "−") if value else "0") for place, value in _MARKS],
        title=root_title("{} − {}".format(*(visible_text(name) for name in names))),
        file=file,
        **options,
    )


# Places on the bar and what they stand for, as shares of its reach: half way on the bar is a quarter.
_MARKS: Final = ((0.0, -1.0), (0.25, -0.25), (0.5, 0.0), (0.75, 0.25), (1.0, 1.0))


def head_matrix(
    divergence: FloatArray,
    layers_a: int,
    heads_a: int,
    layers_b: int,
    heads_b: int,
    *,
    names: tuple[str, str],
    of_heads: bool = True,
    dark: bool = False,
) -> go.Figure:
    """Jensen-Shannon divergence in bits of every head of A (down) and of B (across), or of every layer where a layer
    has one map and not one ``of_heads`` each.

    ``divergence`` is float32 (layers_a * heads_a, layers_b * heads_b), the heads of a layer together, from 0 to 1.
    The stronger a colour, the more alike two heads are; it follows the square root, which is the Jensen-Shannon
    distance. Thin lines separate the layers. Raises ValueError for another shape.
    """
    shape = layers_a * heads_a, layers_b * heads_b
    if divergence.shape != shape:
        raise ValueError(f"divergences of shape {divergence.shape} do not fit {shape[0]} and {shape[1]} heads")
    colours = theme(dark)
    # 0 bits, the closest, takes the end that stands out.
    scale = tuple((1 - place, colour) for place, colour in reversed(sequential(dark)))
    marks = [(float(np.sqrt(bits)), f"{bits:g}") for bits in (0, 0.04, 0.16, 0.36, 0.64, 1)]
    bar = scale_bar(scale, marks, root_title("divergence, bits; 0 is the same"), dark)
    name_a, name_b = _names(names)
    cell = min(_LARGEST_HEAD if of_heads else _LARGEST_LAYER, _LARGEST_SIDE / max(shape))
    unit = "heads by layer" if of_heads else "layers"
    lines = [_line("y", layer * heads_a, colours.muted) for layer in range(1, layers_a)]
    lines += [_line("x", layer * heads_b, colours.muted) for layer in range(1, layers_b)]
    return go.Figure(
        data=[
            cells(
                divergence,
                square_root(scale),
                0.0,
                1.0,
                f"%{{y}} of {name_a}<br>↔ %{{x}} of {name_b}<br><b>%{{z:.3f}}</b> bit<extra></extra>",
                x=_places(layers_b, heads_b, of_heads),
                y=_places(layers_a, heads_a, of_heads),
                xgap=0,
                ygap=0,
            )
        ],
        layout=cells_layout(
            axis(dark, f"{name_b}: {unit}", range=[-0.5, shape[1] - 0.5], **_layers(layers_b, heads_b)),
            axis(dark, f"{name_a}: {unit}", range=[shape[0] - 0.5, -0.5], **_layers(layers_a, heads_a)),
            bar,
            dark,
            height=round(cell * shape[0]) + 90,
            shapes=lines,
        ),
    )


def _names(names: tuple[str, str]) -> tuple[str, str]:
    a, b = (token_text(name, _LONGEST_NAME) for name in names)
    return a, b


def _places(n_layers: int, n_heads: int, of_heads: bool) -> list[str]:
    heads = [f", head {head + 1}" for head in range(n_heads)] if of_heads else [""]
    return [f"layer {layer + 1}{head}" for layer in range(n_layers) for head in heads]


def _layers(n_layers: int, n_heads: int) -> dict[str, Any]:
    """Ticks: the layers' numbers, each in the middle of its heads (an axis of categories counts them from 0)."""
    return {
        "type": "category",
        "tickvals": [layer * n_heads + (n_heads - 1) / 2 for layer in range(n_layers)],
        "ticktext": [str(layer + 1) for layer in range(n_layers)],
        "tickangle": 0,
    }


def _line(axis: str, head: int, colour: str) -> dict[str, Any]:
    """A line through the whole matrix before a head, at a right angle to the axis."""
    other = "y" if axis == "x" else "x"
    return {
        "type": "line",
        f"{axis}0": head - 0.5,
        f"{axis}1": head - 0.5,
        f"{other}ref": f"{other} domain",
        f"{other}0": 0,
        f"{other}1": 1,
        "line": {"width": 1, "color": colour},
    }
