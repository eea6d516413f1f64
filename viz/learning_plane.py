"""Where texts stand in the plane while a model learns: a slider over the epochs, which the browser moves by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import axis_style, base_layout, clipped, token_text
from viz.palette import categorical, sequential, theme

_SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")
_LONGEST_TEXT: Final = 70
_FEW: Final = 8  # bars; a telephone has room for three digits above each
_MARGIN: Final = 0.06  # of the spread of all points, so that none lies on the frame


def learning_plane(
    points: FloatArray,
    explained: tuple[float, float],
    names: Sequence[str],
    texts: Sequence[str],
    groups: Sequence[str] | Sequence[float],
    *,
    dark: bool = False,
) -> go.Figure:
    """``points`` (moments, n, 2), the moments' ``names``, and for each of the n texts its words and its group: a label,
    or a number, which is shown as a colour on a scale.

    The axes stay where they are, so that what moves is the texts. Begins at the last moment. Raises ValueError where
    lengths do not fit together.
    """
    n_moments, n = points.shape[:2]
    if len(names) != n_moments or len(texts) != n or len(groups) != n:
        raise ValueError(f"points of shape {points.shape} need a name a moment, and a text and a group each")
    colours = theme(dark)
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    room = np.maximum((high - low) * _MARGIN, 1e-3)
    ranges = np.stack([low - room, high + room]).T.tolist()
    style = axis_style(colours) | {
        "fixedrange": True, "automargin": True, "showgrid": True, "gridcolor": colours.line,
    }  # fmt: skip

    def axis(which: int) -> dict[str, Any]:
        return style | {
            "range": ranges[which],
            "title": style["title"] | {"text": f"component {which + 1} ({explained[which]:.0%} of the variance)"},
            "showticklabels": False,
        }

    steps = [
        {
            "label": name,
            "method": "animate",
            "args": [[name], {"mode": "immediate", "frame": {"duration": 300, "redraw": False},
                              "transition": {"duration": 250}}],
        }
        for name in names
    ]  # fmt: skip
    return go.Figure(
        data=_traces(points[-1], texts, groups, dark),
        frames=[
            go.Frame(name=name, data=[{"x": trace["x"], "y": trace["y"], "type": "scatter"} for trace in traces])
            for name, traces in zip(names, (_traces(at, texts, groups, dark) for at in points), strict=True)
        ],
        layout=base_layout(
            dark,
            height=520,
            dragmode=False,
            margin={"l": 8, "r": 16, "t": 28, "b": 8},
            xaxis=axis(0),
            yaxis=axis(1),
            sliders=[
                {
                    "active": n_moments - 1,
                    "steps": steps,
                    "currentvalue": {"prefix": "after epoch ", "font": {"size": 13, "color": colours.text}},
                    "font": {"size": 12, "color": colours.muted},
                    "bgcolor": colours.surface,
                    "activebgcolor": colours.primary,
                    "bordercolor": colours.line,
                    "pad": {"t": 46, "b": 8},
                    "x": 0,
                    "len": 1,
                }
            ],
        )
        | {"showlegend": True, "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}},
    )


def _traces(
    at: FloatArray, texts: Sequence[str], groups: Sequence[str] | Sequence[float], dark: bool
) -> list[dict[str, Any]]:
    """The texts of each group as a trace of its own; numbers make one trace with a scale."""
    hover = [token_text(clipped(text, _LONGEST_TEXT)) for text in texts]
    if groups and not isinstance(groups[0], str):
        return [
            {
                "type": "scatter",
                "mode": "markers",
                "name": "score",
                "x": at[:, 0].tolist(),
                "y": at[:, 1].tolist(),
                "marker": {
                    "color": list(groups),
                    "colorscale": sequential(dark),
                    "size": 9,
                    "line": {"width": 1, "color": theme(dark).muted},  # the lowest scores have the page's colour
                    "showscale": True,
                    "colorbar": {"title": {"text": "score", "side": "right"}, "thickness": 10, "outlinewidth": 0},
                },
                "text": hover,
                "customdata": list(groups),
                "hovertemplate": "%{text}<br>score %{customdata}<extra></extra>",
                "showlegend": False,
            }
        ]
    labels = sorted(dict.fromkeys(map(str, groups)))
    palette = categorical(len(labels), dark)
    traces = []
    for number, label in enumerate(labels):
        own = [place for place, group in enumerate(groups) if group == label]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": token_text(label, 24),
                "x": at[own, 0].tolist(),
                "y": at[own, 1].tolist(),
                "marker": {"color": palette[number], "symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 9},
                "text": [hover[place] for place in own],
                "hovertemplate": f"%{{text}}<extra>{token_text(label, 24)}</extra>",
            }
        )
    return traces


def cka_by_layer(values: FloatArray, *, dark: bool = False) -> go.Figure:
    """Linear CKA of every layer before and after, (layers + 1,), as bars; the first is the embeddings."""
    colours = theme(dark)
    style = axis_style(colours) | {"fixedrange": True, "automargin": True}
    places = list(range(len(values)))
    digits = 3 if len(values) <= _FEW else 2
    return go.Figure(
        data=[
            {
                "type": "bar",
                "x": places,
                "y": [float(value) for value in values],
                "marker": {"color": categorical(1, dark)[0]},
                "text": [f"{value:.{digits}f}" for value in values],
                "textposition": "outside",
                "textfont": {"color": colours.text, "size": 12},
                "cliponaxis": False,
                "hovertemplate": "layer %{x}: CKA <b>%{y:.4f}</b><extra></extra>",
            }
        ],
        layout=base_layout(
            dark,
            height=300,
            dragmode=False,
            bargap=0.25,
            margin={"l": 8, "r": 16, "t": 28, "b": 8},
            xaxis=style
            | {"tickvals": places, "ticktext": ["embeddings", *map(str, places[1:])],
               "title": style["title"] | {"text": "layer"}},
            yaxis=style
            | {"range": [0, 1.08], "tickvals": [0, 0.5, 1], "showgrid": True, "gridcolor": colours.line,
               "title": style["title"] | {"text": "CKA of before and after"}},
        ),
    )  # fmt: skip
