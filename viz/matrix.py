"""Figures of matrices, a colour a number: heads, layers, tokens and labels down the side and along the top.

``cells`` and ``matrix_figure`` are of every heatmap by Plotly; ``fitting_numbers`` and ``sized_numbers`` write on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import (
    COLOUR_BAR_SPACE,
    axis,
    clipped,
    columns,
    even_marks,
    layer_names,
    make_figure,
    root_title,
    rows,
    scale_bar,
    token_text,
    tokens_across,
    weight_marks,
)
from viz.palette import Colorscale, diverging, sequential, square_root, theme
from viz.token_line import filled

_LONGEST_LABEL: Final = 28  # characters of a token or a model's name beside a picture
_CLEAR: Final = "rgba(0,0,0,0)"


def cells(
    values: FloatArray, scale: Colorscale, low: float, high: float, hover: str, **settings: Any
) -> dict[str, Any]:
    """A heatmap at places 0, 1, 2, … with ``scale`` from ``low`` to ``high`` and without a colour bar; ``hover`` is
    Plotly's template of what is said of a cell.
    """
    return {
        "type": "heatmap",
        "z": values,
        "x": list(range(values.shape[1])),
        "y": list(range(values.shape[0])),
        "zmin": low,
        "zmax": high,
        "colorscale": scale,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": hover,
        **settings,
    }


def matrix_figure(
    traces: Sequence[dict[str, Any]],
    across: dict[str, Any],
    down: dict[str, Any],
    bar: Sequence[dict[str, Any]],
    dark: bool,
    *,
    height: int,
    right: int = 8,
    shapes: Sequence[dict[str, Any]] = (),
    **settings: Any,
) -> go.Figure:
    """``cells`` and what lies over them, laid out by the rule that holds for every heatmap, also for those that
    components draw: what the columns are stands above them, what the rows are at the left, and below is the colour bar
    (``layout.scale_bar``), from the left edge of the cells on. A heatmap has no title of its own: the page has one.

    ``across`` and ``down`` are the axes, each with its title; ``height`` is that of the cells and what is above, in px.
    """
    return make_figure(
        traces,
        dark,
        shapes=[*shapes, *bar],
        height=height + COLOUR_BAR_SPACE,
        margin=(8, right, 8, COLOUR_BAR_SPACE),
        hovermode="closest",
        xaxis=across | {"side": "top"},
        yaxis=down,
        **settings,
    )


def line_before(place: int, colour: str, axis: str = "x") -> dict[str, Any]:
    """A line through the whole matrix before a column, or of the axis "y" before a row."""
    other = "y" if axis == "x" else "x"
    return {
        "type": "line",
        f"{axis}0": place - 0.5,
        f"{axis}1": place - 0.5,
        f"{other}ref": f"{other} domain",
        f"{other}0": 0,
        f"{other}1": 1,
        "line": {"width": 1, "color": colour},
    }


def fitting_numbers(values: FloatArray, colours: Colorscale, lowest: float, highest: float) -> list[dict[str, Any]]:
    """Traces to lay over ``cells`` of the values with this scale: two digits, as large as fits, black or white by the
    colour they stand on.

    A heatmap fits its own text to its cells, but sets it all in one colour, or in a grey with too little contrast: here
    a clear one is laid over it for each of black and white.
    """
    places = (np.nan_to_num(values) - lowest) / (highest - lowest)
    ink = np.array([filled("", colours, float(place)).ink for place in places.flat]).reshape(values.shape)
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


def sized_numbers(
    values: FloatArray,
    text: Callable[[tuple[int, ...]], str],
    scale: Colorscale,
    highest: float,
    size: int,
    first: int = 0,
) -> dict[str, Any]:
    """A trace to lay over ``cells`` of values from 0 to ``highest`` at places from ``first`` on, with this scale: what
    ``text`` gives for the row and column of a cell, in px of ``size``. A cell that is nan has none.
    """
    known = [cell for cell, value in np.ndenumerate(values) if not np.isnan(value)]
    return {
        "type": "scatter",
        "mode": "text",
        "x": [cell[1] + first for cell in known],
        "y": [cell[0] + first for cell in known],
        "text": [text(cell) for cell in known],
        "textfont": {"size": size, "color": [filled("", scale, float(values[cell]) / highest).ink for cell in known]},
        "hoverinfo": "skip",
    }


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
    hover_digits, digits = (3, 2) if highest >= 0.1 else (5, 3)

    def short(cell: tuple[int, ...]) -> str:
        """Without the 0 before the point, in the room that a cell has on a phone."""
        return f"{float(values[cell]):.{digits}f}".removeprefix("0")

    hover = f"layer %{{y}}, head %{{x}}<br>{quantity}: <b>%{{z:.{hover_digits}f}}</b><extra></extra>"
    places = {"x": list(range(1, n_heads + 1)), "y": list(range(1, n_layers + 1))}
    # With more than 12 heads a layer the numbers would print over each other.
    numbers = [sized_numbers(values, short, scale, highest, 11, 1)] if n_heads <= 12 else []
    return matrix_figure(
        [cells(values, scale, 0, highest, hover, xgap=2, ygap=2, **places), *numbers],
        axis(dark, "head", dtick=1),
        axis(dark, "layer", autorange="reversed", dtick=1),
        scale_bar(sequential(dark), weight_marks(highest), root_title(token_text(quantity)), dark),
        dark,
        height=30 * n_layers + 60,
    )


def layer_attention(
    weights: FloatArray, tokens: Sequence[str], *, rows: str = "layer", dark: bool = False
) -> go.Figure:
    """One token's attention in every layer: weights float32 (layers, n), each row a distribution over the tokens;
    colour follows the square root. ``rows`` says what a row is: "layer", or "head" for the heads of one.
    """
    if weights.shape[-1] != len(tokens):
        raise ValueError(f"weights of shape {weights.shape} do not fit {len(tokens)} tokens")
    n_layers, n = weights.shape
    longest = 12  # characters of a label; the last, slanted one must end before the button that saves the figure
    hover = f"{rows} %{{y}} → %{{text}}<br>weight <b>%{{z:.4f}}</b><extra></extra>"
    texts = [[token_text(token) for token in tokens]] * n_layers
    y = list(range(1, n_layers + 1))
    return matrix_figure(
        [cells(weights, square_root(sequential(dark)), 0, 1, hover, y=y, xgap=1 if n <= 60 else 0, text=texts)],
        tokens_across(tokens, dark, "key: the token attended to", longest, tickangle=-60),
        axis(dark, rows, autorange="reversed", dtick=1),
        scale_bar(sequential(dark), weight_marks(1.0), root_title("attention weight"), dark),
        dark,
        height=28 * n_layers + 108,
        right=30 + round(3.6 * len(token_text(tokens[-1], longest))),
    )


def similarity(cka: FloatArray, names: tuple[str, str] | None = None, *, dark: bool = False) -> go.Figure:
    """Linear CKA of every pair of layers, float32 (layers + 1, layers + 1): 1 is the same up to rotation and scale.

    The layers are those of one model, or with ``names`` those of two: the first down, the second across.
    """
    down, across = ["layer"] * 2 if names is None else [f"{token_text(name, _LONGEST_LABEL)}: layer" for name in names]
    scale = sequential(dark)
    figure = _zoomable(
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
    if len(cka) <= 13:
        figure.add_traces(fitting_numbers(cka, scale, 0.0, 1.0))
    return figure


def token_movement(moved: FloatArray, tokens: Sequence[str], quantity: str, *, dark: bool = False) -> go.Figure:
    """How far each token's vector moves in each layer, (layers, n); ``quantity`` names the measure."""
    if moved.shape[1] != len(tokens):
        raise ValueError(f"movement of shape {moved.shape} does not fit {len(tokens)} tokens")
    most = float(moved.max(initial=0.0)) or 1.0
    return _zoomable(
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


def _zoomable(
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
    """Numbers from 0 to ``maximum`` with a colour bar; ``down`` and ``across`` are the names of rows and columns and a
    title for them. Names may repeat, as tokens do.
    """
    texts = [[f"{across[1]} {column}<br>{down[1]} {row}" for column in across[0]] for row in down[0]]
    return matrix_figure(
        [cells(values, scale, 0.0, maximum, f"%{{text}}<br>{quantity} %{{z:.3f}}<extra></extra>", text=texts)],
        axis_across,
        rows(down[0], dark, down[1], fixedrange=False, ticklabelstandoff=0),
        bar,
        dark,
        height=max(34 * len(values) + 90, 190),
        dragmode="zoom",
    )


def cosine_matrix(cosines: FloatArray, sentences: Sequence[str], *, dark: bool = False) -> go.Figure:
    """The cosine of every pair of sentences, (n, n), on the scale −1 to 1, written on the cells of up to 25. Raises
    ValueError where it does not fit the sentences.
    """
    n = len(sentences)
    if cosines.shape != (n, n):
        raise ValueError(f"cosines of shape {cosines.shape} do not fit {n} sentences")
    scale = diverging(dark)
    names = [token_text(clipped(sentence, 90)) for sentence in sentences]
    labels = [f"{token_text(sentence, 20)}  {number}" for number, sentence in enumerate(sentences, start=1)]
    pairs = [[f"{row}<br>{column}" for column in names] for row in names]
    hover = "%{customdata}<br>cosine <b>%{z:.3f}</b><extra></extra>"
    numbers = fitting_numbers(cosines, scale, -1, 1) if n <= 25 else []
    return matrix_figure(
        [cells(cosines, scale, -1, 1, hover, customdata=pairs), *numbers],
        columns([str(place + 1) for place in range(n)], dark, "sentence, by its number", ticklabelstandoff=4),
        rows(labels, dark, "sentence", ticklabelstandoff=4),
        scale_bar(scale, even_marks(1.0, signed=True), "cosine", dark),
        dark,
        height=max(120, min(30 * n, 900)) + 52,
    )


def confusion(counts: npt.NDArray[np.int64], labels: Sequence[str], *, dark: bool = False) -> go.Figure:
    """How often items of each true label (rows) were called each label (columns), coloured by the share of the row; of
    up to 12 labels the counts are written, too.

    Raises ValueError where ``counts`` is not (labels, labels).
    """
    if counts.shape != (len(labels), len(labels)):
        raise ValueError(f"{len(labels)} labels need a matrix of their size; got {counts.shape}")
    scale = square_root(sequential(dark))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [token_text(label, 24) for label in labels]
    sentences = [
        [f"{true} predicted as {predicted}: {counts[row, column]:,}" for column, predicted in enumerate(names)]
        for row, true in enumerate(names)
    ]
    hover = "%{customdata} (%{z:.0%})<extra></extra>"
    traces = [cells(shares, scale, 0, 1, hover, xgap=2, ygap=2, customdata=np.array(sentences))]
    if len(labels) <= 12:
        traces.append(sized_numbers(shares, lambda cell: f"{counts[cell]:,}", scale, 1.0, 13))
    return matrix_figure(
        traces,
        columns(names, dark, "predicted label"),
        rows(names, dark, "true label"),
        scale_bar(sequential(dark), weight_marks(1.0), root_title("share of a true label's items"), dark),
        dark,
        height=max(180, 36 * len(labels) + 90),
    )


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
    muted = theme(dark).muted
    # 0 bits, the closest, takes the end that stands out.
    scale = tuple((1 - place, colour) for place, colour in reversed(sequential(dark)))
    marks = [(float(np.sqrt(bits)), f"{bits:g}") for bits in (0, 0.04, 0.16, 0.36, 0.64, 1)]
    name_a, name_b = (token_text(name, 30) for name in names)
    cell = min(14 if of_heads else 28, 250 / max(shape))  # px
    unit = "heads by layer" if of_heads else "layers"

    def places(n_layers: int, n_heads: int) -> list[str]:
        heads = [f", head {head + 1}" for head in range(n_heads)] if of_heads else [""]
        return [f"layer {layer + 1}{head}" for layer in range(n_layers) for head in heads]

    def layers(n_layers: int, n_heads: int) -> dict[str, Any]:
        """Ticks: the layers' numbers, each in the middle of its heads (an axis of categories counts them from 0)."""
        return {
            "type": "category",
            "tickvals": [layer * n_heads + (n_heads - 1) / 2 for layer in range(n_layers)],
            "ticktext": [str(layer + 1) for layer in range(n_layers)],
            "tickangle": 0,
        }

    hover = f"%{{y}} of {name_a}<br>↔ %{{x}} of {name_b}<br><b>%{{z:.3f}}</b> bit<extra></extra>"
    x, y = places(layers_b, heads_b), places(layers_a, heads_a)
    return matrix_figure(
        [cells(divergence, square_root(scale), 0.0, 1.0, hover, x=x, y=y, xgap=0, ygap=0)],
        axis(dark, f"{name_b}: {unit}", range=[-0.5, shape[1] - 0.5], **layers(layers_b, heads_b)),
        axis(dark, f"{name_a}: {unit}", range=[shape[0] - 0.5, -0.5], **layers(layers_a, heads_a)),
        scale_bar(scale, marks, root_title("divergence, bits; 0 is the same"), dark),
        dark,
        height=round(cell * shape[0]) + 90,
        shapes=[
            *(line_before(layer * heads_a, muted, "y") for layer in range(1, layers_a)),
            *(line_before(layer * heads_b, muted) for layer in range(1, layers_b)),
        ],
    )


def matrices(
    named: Sequence[tuple[str, FloatArray]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    quantity: str,
    axes: tuple[str, str],
    signed: bool = False,
    root: bool = False,
    dark: bool = False,
) -> go.Figure:
    """A few small matrices side by side on one colour scale, each float32 (rows, columns) under its name. Colours run
    from 0 to the largest number, or ``signed`` from minus the largest size to plus it; with ``root`` they follow the
    square root, so that small shares can be told apart. ``quantity`` names the numbers, ``axes`` say what a row and a
    column are. Raises ValueError where labels do not fit.
    """
    if not named or any(values.shape != (len(rows), len(columns)) for _, values in named):
        raise ValueError(f"matrices of {len(rows)} rows and {len(columns)} columns are wanted")
    colours = theme(dark)
    end = max(float(np.nanmax(np.abs(values))) for _, values in named) or 1.0
    scale = diverging(dark) if signed else square_root(sequential(dark)) if root else sequential(dark)
    n, gap = len(named), 0.04
    width = (1 - gap * (n - 1)) / n
    marks = weight_marks(end) if root else even_marks(end, signed=signed)
    title = root_title(token_text(quantity)) if root else token_text(quantity)
    bar = scale_bar(diverging(dark) if signed else sequential(dark), marks, title, dark)
    hover = f"%{{text}}<br>{token_text(quantity)}: <b>%{{z:.4f}}</b><extra></extra>"
    of_all = {
        "xgap": 1 if len(columns) < 40 else 0,
        "ygap": 1 if len(rows) < 40 else 0,
        "text": [[f"{token_text(row)} → {token_text(column)}" for column in columns] for row in rows],
    }
    traces: list[dict[str, Any]] = []
    panels: dict[str, Any] = {}
    for number, (name, values) in enumerate(named):
        which = "" if number == 0 else str(number + 1)
        start = number * (width + gap)
        place = {"xaxis": f"x{which}", "yaxis": f"y{which}"}
        traces.append(cells(values, scale, -end if signed else 0, end, hover, **place, **of_all))
        panels[f"xaxis{which}"] = axis(
            dark,
            f"<span style='color:{colours.text}'><b>{token_text(name)}</b></span><br>{axes[1]}",
            side="top",
            domain=[start, start + width],
            anchor=f"y{which}",
            tickangle=-60,
            **_labels(columns, 16 // n),
        )
        panels[f"yaxis{which}"] = axis(
            dark,
            axes[0] if number == 0 else "",
            domain=[0, 1],
            anchor=f"x{which}",
            autorange="reversed",
            showticklabels=number == 0,
            **_labels(rows, 16),
        )
    return make_figure(traces, dark, height=330, margin=(8, 8, 8, COLOUR_BAR_SPACE), shapes=bar, **panels)


def _labels(names: Sequence[str], most: int) -> dict[str, Any]:
    """About so many labels: on a phone more would print over each other."""
    step = max(1, round(len(names) / most))
    places = list(range(0, len(names), step))
    return {"tickvals": places, "ticktext": [token_text(names[place], 8) for place in places]}
