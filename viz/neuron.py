"""Neuron view (Vig 2019): from a query and its keys to one row of attention weights, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from analysis.neuron import QueryNumbers
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, signed
from viz.layout import COLOUR_BAR_SPACE, axis, even_marks, make_figure, note, rows, scale_bar, token_text
from viz.marks import end_of_scale, horizontal_bars
from viz.matrix import cells
from viz.palette import by_sign, diverging, theme

MAX_KEYS: Final = 24

_ROW: Final = 24  # px, of a key and of the query
_HEADING: Final = 26  # px above each block
_BAR: Final = 60  # px: two of them stand side by side on a phone
_NOTE: Final = 36  # px below these, where keys are left out
_LONGEST_LABEL: Final = 12  # characters of a token beside its row; hovering shows all of it
_BESIDE: Final = 0.06  # of their room, between figures and bars
_GAP: Final = 0.025  # between columns, of the figure's width
_NUMBER: Final = 0.18  # width of a column of numbers
_FIGURES: Final = 0.6  # of it, left of the bars: 36 px on a phone hold "-12.34"


def strongest_keys(weights: FloatArray, max_keys: int = MAX_KEYS) -> list[int]:
    """The ``max_keys`` keys with the largest weights, in the order of the text."""
    strongest = np.argsort(-weights, kind="stable")[:max_keys]
    return sorted(strongest.tolist())


def neuron(
    numbers: QueryNumbers,
    *,
    query_label: str,
    key_labels: Sequence[str],
    dark: bool = False,
    max_keys: int = MAX_KEYS,
) -> go.Figure:
    """One query against its keys: its vector on top; below, one row per key: vector, products, score, weight.

    The products are query · key · scaling, so a row of them sums to the score (plus the bias where the model
    adds one, which then has a column). Query and keys share one colour scale, the products have their own;
    both are centred at 0 and end at the 98th percentile of the sizes shown, so that one outlying dimension
    does not fade all others. Hovering gives the exact numbers. Beyond ``max_keys`` keys the strongest by
    weight are shown and a note counts the rest. Raises InvalidInput when the labels do not fit.
    """
    n, d = numbers.keys.shape
    if len(key_labels) != n:
        raise InvalidInput(f"{len(key_labels)} key tokens do not fit {n} keys.")
    kept = strongest_keys(numbers.weights, max_keys)
    names = ["bias"] * numbers.has_bias + ["score", "weight"]
    columns = _columns(len(names))
    tokens = [key_labels[key] for key in kept]
    key_names = [f"{key + 1} · {token_text(key_labels[key])}" for key in kept]

    traces, layout = _strips(numbers, kept, columns, key_names, token_text(query_label), dark)
    sums, bias, scores = (values[kept] for values in (numbers.sums, numbers.bias, numbers.scores))
    hidden = np.isneginf(scores)
    for place, name in enumerate(names, start=3):
        if name == "bias":
            values, how = bias, ["added by the model"] * len(kept)
        elif name == "weight":
            values, how = numbers.weights[kept], ["softmax of the scores"] * len(kept)
        else:
            plus = [f" + bias {value:.6g}" if numbers.has_bias else "" for value in bias]
            how = [f"sum of products {sums[i]:.6g}{plus[i]}" for i in range(len(kept))]
            how = ["masked: hidden from this query" if hidden[i] else how[i] for i in range(len(kept))]
            values = scores
        hover = [
            f"key {key}<br>{name} <b>{_exact(value)}</b><br>{explained}"
            for key, value, explained in zip(key_names, values, how, strict=True)
        ]
        numbers_of_keys, layout[f"xaxis{place}"] = _number_column(place, name, columns[place - 1], values, hover, dark)
        traces += numbers_of_keys
    left_out = ""
    if n > len(kept):
        rest = float(np.delete(numbers.weights, kept).sum())
        left_out = (
            f"{len(kept)} of {n} keys: the strongest, in text order.<br>"
            f"The other {n - len(kept)} share {rest:.1%} of the weight."
        )
    factor = _factor(numbers.scaling)
    headings = ["key vectors", f"query · key{f' · {factor}' if factor else ''}", *names]
    plot, keys_top, query_bottom = _heights(len(kept))
    below = COLOUR_BAR_SPACE + _NOTE * bool(left_out)
    key_rows = [token_text(token, _LONGEST_LABEL) for token in tokens]
    query_row = [f"<b>{token_text(query_label, _LONGEST_LABEL)}</b>"]
    query_at = [query_bottom, query_bottom + _ROW / plot]
    return make_figure(
        traces,
        dark,
        height=plot + below + 8,
        margin=(8, 8, 8, below),
        hovermode="closest",
        bargap=0.12,
        yaxis=rows(key_rows, dark, "key", domain=[0, keys_top], ticklabelstandoff=0),
        yaxis2=rows(query_row, dark, "query", domain=query_at, ticklabelstandoff=0),
        annotations=_words(columns, headings, f"{d} dimensions, left to right", left_out, len(kept), dark),
        **layout,
    )


def neuron_caption(numbers: QueryNumbers, *, query_label: str, key_labels: Sequence[str], key: int) -> str:
    """One plain sentence, for text and not for HTML, that reads the row of ``key`` (from 0) to its weight."""
    n = int((~numbers.masked).sum())  # keys that may be looked at
    start = f"The query of “{query_label}” times the key of “{key_labels[key]}”"
    if numbers.masked[key]:
        return f"{start} does not count: the attention mask hides it, so its weight is 0."
    factor = _factor(numbers.scaling)
    times = f", times {factor}" if factor else ""
    stand = "for where the two tokens stand"
    bias = f", plus a bias of {_short(numbers.bias[key], 'bias')} {stand}" if numbers.has_bias else ""
    keys = f"the {n} keys it can see" if numbers.masked.any() else f"all {n} keys"
    if n == 1:
        keys = "this one key"
    score = _short(numbers.scores[key], "score")
    return (
        f"{start}, dimension by dimension, summed{times}{bias}, gives {score}; "
        f"softmax over {keys} turns that into {numbers.weights[key]:.3f}."
    )


def _factor(scaling: float) -> str:
    """The scaling as people write it: 1/√d (in DeBERTa 1/√3d, one d for each term of the sum), "" where it is 1."""
    if np.isclose(scaling, 1):
        return ""
    under_root = round(scaling**-2)
    return f"1/√{under_root}" if under_root and np.isclose(scaling, under_root**-0.5) else f"{scaling:.4g}"


def _columns(n_numbers: int) -> list[tuple[float, float]]:
    """Where the columns lie, as fractions of the width: two for vectors, then the numbers."""
    vectors = (1 - n_numbers * (_NUMBER + _GAP) - _GAP) / 2
    widths = [vectors, vectors] + [_NUMBER] * n_numbers
    starts = np.cumsum([0, *widths[:-1]]) + _GAP * np.arange(len(widths))
    return [(float(start), min(float(start + width), 1.0)) for start, width in zip(starts, widths, strict=True)]


def _heights(n_keys: int) -> tuple[int, float, float]:
    """Height of the plot in px, and as fractions of it the top of the keys and the bottom of the query."""
    plot = 2 * _HEADING + _ROW * (1 + n_keys)
    keys_top = _ROW * n_keys / plot
    return plot, keys_top, keys_top + _HEADING / plot


def _strips(
    numbers: QueryNumbers,
    kept: list[int],
    columns: list[tuple[float, float]],
    key_names: list[str],
    query_name: str,
    dark: bool,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The vectors as strips of colour: query, keys, products; one column per dimension, counted from 1. Traces, and
    what they add to the layout: axes and colour bars.
    """
    d = len(numbers.query)
    keys, products = numbers.keys[kept], numbers.products[kept].copy()
    products[numbers.masked[kept]] = np.nan  # a masked key's products go nowhere
    values_end = end_of_scale(np.concatenate([numbers.query[None], keys]))
    products_end = end_of_scale(products)
    names = np.repeat(np.array(key_names, dtype=object)[:, None], d, axis=1)
    factors = np.stack([names, np.broadcast_to(numbers.query.astype(object), names.shape), keys], axis=-1)
    places = {"x": list(range(1, d + 1)), "xgap": 0, "ygap": 3}
    dimension = "dimension %{x}: <b>%{z:.6g}</b><extra></extra>"
    product = (
        "key %{customdata[0]}<br>dimension %{x}: %{customdata[1]:.6g} · %{customdata[2]:.6g}"
        f" · {numbers.scaling:.4g}<br>= <b>%{{z:.6g}}</b><extra></extra>"
    )

    def strip(name: str, values: FloatArray, end: float, hover: str, **settings: Any) -> dict[str, Any]:
        return cells(values, diverging(dark), -end, end, hover, name=name, **places, **settings)

    traces = [
        strip("query", numbers.query[None], values_end, f"query {query_name}<br>{dimension}", yaxis="y2"),
        strip("keys", keys, values_end, f"key %{{customdata}}<br>{dimension}", customdata=names),
        strip("products", products, products_end, product, customdata=factors, xaxis="x2"),
    ]
    layout: dict[str, Any] = {"shapes": []}
    for name, quantity, column, end in zip(
        ("xaxis", "xaxis2"), ("value", "product"), columns, (values_end, products_end), strict=False
    ):
        marks = even_marks(end, signed=True, beyond=True)
        layout["shapes"] += scale_bar(diverging(dark), marks, quantity, dark, at=column[0], length=_BAR)
        layout[name] = _column_axis(column, [0.5, d + 0.5], dark)
    return traces, layout


def _column_axis(column: tuple[float, float], limits: list[float], dark: bool, **settings: Any) -> dict[str, Any]:
    return axis(dark, domain=column, range=limits, showticklabels=False, anchor="y", automargin=False, **settings)


def _number_column(
    place: int, name: str, column: tuple[float, float], values: FloatArray, hover: list[str], dark: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A bar beside its number, one per key, and their own x axis (number ``place``), which contains 0."""
    colours = theme(dark)
    finite = np.where(np.isfinite(values), values, np.float32(0))
    low, high = float(finite.min(initial=0)), float(finite.max(initial=0))
    if low == high:
        high = 1.0
    left = low - (high - low) * _FIGURES / (1 - _FIGURES)
    inks = colours.primary if name == "weight" else by_sign(finite, dark)
    bars = horizontal_bars(finite.tolist(), inks, hover, dark=dark, name=name, xaxis=f"x{place}")
    bars["marker"] |= {"opacity": 0.45, "line": {"width": 0}}
    in_numbers = {
        "type": "scatter",
        "name": f"{name} in numbers",
        "x": [low - _BESIDE * (low - left)] * len(values),
        "y": list(range(len(values))),
        "xaxis": f"x{place}",
        "mode": "text",
        "text": [_short(value, name) for value in values],
        "textposition": "middle left",
        "textfont": {"size": 11, "color": [colours.text if np.isfinite(v) else colours.muted for v in values]},
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
    zero = {"zeroline": low < 0, "zerolinecolor": colours.muted, "zerolinewidth": 1}
    return [bars, in_numbers], _column_axis(column, [left, high], dark, **zero)


def _short(value: float, name: str) -> str:
    """A number that fits its column: three decimals for weights, two for the rest."""
    if np.isneginf(value):
        return "masked"
    if name != "weight":
        return signed(value)
    if 0 < value < 0.0005:
        return "&lt;0.001"
    return f"{value:.3f}" if value else "0"


def _exact(value: float) -> str:
    return "−∞" if np.isneginf(value) else f"{value:.6g}"


def _words(
    columns: list[tuple[float, float]], headings: list[str], dimensions: str, left_out: str, n_keys: int, dark: bool
) -> list[dict[str, Any]]:
    """Headings above the blocks, the number of dimensions, and what is not shown, as annotations."""
    plot, keys_top, query_bottom = _heights(n_keys)
    ink = theme(dark).muted
    over_query = query_bottom + _ROW / plot
    places = [("query vector", columns[0], over_query)]
    places += [(text, column, keys_top) for text, column in zip(headings, columns, strict=True)]
    written = [
        note(text, sum(column) / 2, y, ink, 11, xanchor="center", yanchor="bottom", yshift=2)
        for text, column, y in places
    ]
    middle = (query_bottom + over_query) / 2
    written.append(note(dimensions, columns[1][0], middle, ink, 11, xanchor="left", yanchor="middle"))
    if left_out:
        below = -COLOUR_BAR_SPACE / plot
        written.append(note(left_out, 0, below, ink, 11, xanchor="left", yanchor="top", align="left"))
    return written
