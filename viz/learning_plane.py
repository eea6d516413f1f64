"""Where texts stand in the plane while a model learns: a slider over the epochs, which the browser moves by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import axis, base_layout, clipped, columns, component_axis, layer_names, token_text
from viz.marks import LEGEND_ABOVE, symbol, texts_outside
from viz.palette import categorical, sequential, theme

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
    animation = {
        "mode": "immediate",
        "frame": {"duration": 300, "redraw": False},
        "transition": {"duration": 250},
    }
    steps = [{"label": name, "method": "animate", "args": [[name], animation]} for name in names]
    return go.Figure(
        data=_traces(points[-1], texts, groups, dark),
        frames=[
            go.Frame(name=name, data=[{"x": trace["x"], "y": trace["y"], "type": "scatter"} for trace in traces])
            for name, traces in zip(names, (_traces(at, texts, groups, dark) for at in points), strict=True)
        ],
        layout=base_layout(
            dark,
            height=520,
            margin={"l": 8, "r": 16, "t": 28, "b": 8},
            xaxis=component_axis(dark, 0, explained, range=ranges[0]),
            yaxis=component_axis(dark, 1, explained, range=ranges[1]),
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
            legend=LEGEND_ABOVE,
        ),
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
        members = [place for place, group in enumerate(groups) if group == label]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": token_text(label, 24),
                "x": at[members, 0].tolist(),
                "y": at[members, 1].tolist(),
                "marker": {"color": palette[number], "symbol": symbol(number), "size": 9},
                "text": [hover[place] for place in members],
                "hovertemplate": f"%{{text}}<extra>{token_text(label, 24)}</extra>",
            }
        )
    return traces


def cka_by_layer(values: FloatArray, *, dark: bool = False) -> go.Figure:
    """Linear CKA of every layer before and after, (layers + 1,), as bars; the first is the embeddings."""
    places = list(range(len(values)))
    digits = 3 if len(values) <= _FEW else 2
    return go.Figure(
        data=[
            {
                "type": "bar",
                "x": places,
                "y": [float(value) for value in values],
                "marker": {"color": categorical(1, dark)[0]},
                **texts_outside([f"{value:.{digits}f}" for value in values], dark),
                "hovertemplate": "layer %{x}: CKA <b>%{y:.4f}</b><extra></extra>",
            }
        ],
        layout=base_layout(
            dark,
            height=300,
            bargap=0.25,
            margin={"l": 8, "r": 16, "t": 28, "b": 8},
            xaxis=columns(layer_names(len(values)), dark, "layer"),
            yaxis=axis(dark, "CKA of before and after", grid=True, range=[0, 1.08], tickvals=[0, 0.5, 1]),
        ),
    )
