"""One head's attention as a heatmap: queries down the side, keys along the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import COLOUR_BAR_SPACE, axis_style, base_layout, colour_bar, text_width, token_text
from viz.palette import Colorscale, sequential, square_root, theme

_LONGEST_LABEL: Final = 16  # characters of a token beside the matrix; hovering shows all of it
_LARGEST_CELL: Final = 64  # px
_AXIS_TITLE: Final = 28  # px that an axis' title takes beside its labels
_LARGEST_SIDE: Final = 620  # px
_UPRIGHT_TITLE: Final = 150  # px of height that the whole title of the queries needs
_SQUARE_UP_TO: Final = 24  # tokens; beyond, cells are small and filling the width shows more


def heatmap(
    weights: FloatArray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    dark: bool = False,
    stretch: bool = False,
    what: str = "attention weight",
) -> go.Figure:
    """Attention weights float32 (queries, keys), each row a query's division of its attention over the keys.

    Colours follow √weight on the scale 0..1, the same for every head; ``stretch`` sets the scale's end to the
    matrix's own maximum instead. The trace holds the exact weights. ``what`` names them on the colour bar.
    The figure fills its container's width; its height follows the number of tokens. Raises ValueError when
    the tokens do not fit the matrix.
    """
    maximum = float(weights.max(initial=0.0)) if stretch else 1.0
    maximum = maximum or 1.0  # a matrix of zeros has no maximum to stretch to
    return matrix(
        weights,
        queries,
        keys,
        limits=(0.0, maximum),
        scale=square_root(sequential(dark)),
        hover="weight <b>%{z:.4f}</b>",
        legend=colour_bar(dark, maximum, what),
        dark=dark,
    )


def matrix(
    values: FloatArray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    limits: tuple[float, float],
    scale: Colorscale,
    hover: str,
    legend: list[dict[str, Any]],
    dark: bool,
    customdata: FloatArray | None = None,
) -> go.Figure:
    """``heatmap`` for any number of a query and a key, float32 (queries, keys).

    ``scale`` spans ``limits``, ``legend`` is its bar. ``hover`` is Plotly's template of what a cell says, which may
    refer to ``customdata`` (queries, keys, ...). Raises ValueError when the tokens do not fit the matrix.
    """
    if values.shape != (len(queries), len(keys)):
        raise ValueError(f"weights of shape {values.shape} do not fit {len(queries)} queries and {len(keys)} keys")
    longest_side = max(len(queries), len(keys), 1)
    cell = min(_LARGEST_CELL, 300 / longest_side + 10, _LARGEST_SIDE / longest_side)
    square = longest_side <= _SQUARE_UP_TO

    # Axes twice: the matrix lies on categories whose names hold position and whole token, which is what
    # hovering shows and what keeps repeated tokens apart; a second pair of axes shows the tokens alone, and
    # Plotly leaves out labels as the width of the screen asks for.
    key_names, query_names = _names(keys), _names(queries)
    style = axis_style(theme(dark))
    return go.Figure(
        data=[
            {
                "type": "heatmap",
                "z": values,
                "customdata": customdata,
                "x": key_names,
                "y": query_names,
                "xaxis": "x2",
                "yaxis": "y2",
                "zmin": limits[0],
                "zmax": limits[1],
                "colorscale": scale,
                "showscale": False,
                "xgap": 1 if longest_side <= 40 else 0,
                "ygap": 1 if longest_side <= 40 else 0,
                "hovertemplate": f"query %{{y}}<br>looks at key %{{x}}<br>{hover}<extra></extra>",
            },
            # Draws nothing: Plotly shows a pair of axes only where a trace lies on it.
            {"type": "scatter", "x": [None], "y": [None], "hoverinfo": "skip"},
        ],
        layout=base_layout(
            dark,
            shapes=legend,
            hovermode="closest",
            dragmode=False,
            margin={
                "l": _AXIS_TITLE + _longest(queries),
                "r": 12,
                "t": _AXIS_TITLE + _longest(keys),  # labels may stand upright
                "b": COLOUR_BAR_SPACE,
            },
            xaxis=style
            | _labels(key_names, keys)
            | {
                "side": "top",
                "autotickangles": [0, -90],
                "title": style["title"] | {"text": "key: the token looked at"},
                "constrain": "domain",
                "constraintoward": "left",
            },
            yaxis=style
            | _labels(query_names, queries)
            | {
                "autorange": "reversed",
                "title": style["title"]
                | {"text": "query: the token that looks" if cell * len(queries) > _UPRIGHT_TITLE else "query"},
                "constrain": "domain",
                "constraintoward": "top",
            }
            | ({"scaleanchor": "x"} if square else {}),
            xaxis2={"type": "category", "matches": "x", "overlaying": "x", "visible": False},
            yaxis2={"type": "category", "matches": "y", "overlaying": "y", "visible": False},
            height=round(cell * max(len(queries), 1)) + 128 + COLOUR_BAR_SPACE,
        ),
    )


def _names(tokens: Sequence[str]) -> list[str]:
    return [f"{position} · {token_text(token)}" for position, token in enumerate(tokens, start=1)]


def _longest(tokens: Sequence[str]) -> float:
    """px of the longest label."""
    return max((text_width(token_text(token, _LONGEST_LABEL)) for token in tokens), default=0.0)


def _labels(names: list[str], tokens: Sequence[str]) -> dict[str, Any]:
    short = [token_text(token, _LONGEST_LABEL) for token in tokens]
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": names,
        "range": [-0.5, len(names) - 0.5],
        "labelalias": dict(zip(names, short, strict=True)),
    }
