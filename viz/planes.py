"""Figures of points in a plane: vectors by their main components, heads by two of their measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from analysis.probing.results import TaskMap
from model_zoo.types import FloatArray
from viz.head_measure import Head, HeadMeasure
from viz.layout import (
    COLOUR_BAR_SPACE,
    axis,
    clipped,
    columns,
    component_axis,
    head_names,
    layer_names,
    make_figure,
    scale_bar,
    token_text,
)
from viz.marks import CLICKED_AS_BEFORE, LEGEND_ABOVE, error_bars, points, symbol, texts_outside
from viz.palette import categorical, sequential, theme
from viz.token_line import filled

_PLOT: Final = 380  # px of the plane of heads,
_AXIS: Final = 44  # and of the numbers and the title of its axis
_NEAR_THE_EDGE: Final = 0.93  # of the range: from here on a name has no room at the right


def plane(task_map: TaskMap, *, layer: int = 0, dark: bool = False) -> go.Figure:
    """The test items in the plane of a layer's two main components, coloured by label, a slider over layers.

    Each layer has a plane of its own, so distances compare within a layer only. Raises ValueError where the
    layer does not exist.
    """
    n_layers = len(task_map.points)
    if not 0 <= layer < n_layers:
        raise ValueError(f"layer {layer} of {n_layers}")
    labels = sorted(set(task_map.labels), key=_with_numbers_in_order)
    palette = categorical(len(labels), dark)
    of_label = [np.array([name == label for name in task_map.labels]) for label in labels]
    names = layer_names(n_layers)

    def axes(layer: int) -> dict[str, Any]:
        reach = 1.08 * float(np.abs(task_map.points[layer]).max(initial=0.0)) or 1.0
        titles = [f"component {i + 1} ({task_map.explained[layer, i]:.0%} of variance)" for i in range(2)]
        return {
            f"{key}axis": axis(dark, title, grid=True, fixedrange=False, range=[-reach, reach])
            for key, title in zip("xy", titles, strict=True)
        }

    def places(layer: int) -> list[dict[str, Any]]:
        """The dots of each label where they are in a layer."""
        at = task_map.points[layer]
        return [{"type": "scatter", "x": at[members, 0], "y": at[members, 1]} for members in of_label]

    texts = [token_text(text) for text in task_map.texts]
    if task_map.words is not None:
        pairs = zip(texts, task_map.words, strict=True)
        texts = [f"{text}<br><b>{token_text(word)}</b>" for text, word in pairs]
    dots = [
        points(
            place["x"],
            place["y"],
            {"color": colour, "size": 7, "opacity": 0.8},
            f"%{{text}}<extra>{token_text(label)}</extra>",
            name=token_text(label),
            text=[texts[i] for i in np.flatnonzero(members)],
        )
        for place, label, members, colour in zip(places(layer), labels, of_label, palette, strict=True)
    ]
    # A frame moves the dots; colours and texts stay those of the first drawing.
    frames = [{"name": names[frame], "data": places(frame), "layout": axes(frame)} for frame in range(n_layers)]
    return make_figure(
        dots,
        dark,
        dragmode="zoom",
        height=520,
        margin=(10, 10, 20, 10),
        legend=LEGEND_ABOVE,
        sliders=[_slider(names, layer) | {"currentvalue": {"prefix": "layer: "}, "pad": {"t": 40}}],
        **axes(layer),
        frames=frames,
    )


def _slider(names: Sequence[str], active: int, frame: int = 0, transition: int = 0) -> dict[str, Any]:
    """A slider over frames by their names; milliseconds that a frame and the way to it take."""
    animate = {
        "mode": "immediate",
        "frame": {"duration": frame, "redraw": False},
        "transition": {"duration": transition},
    }
    return {
        "active": active,
        "steps": [{"label": name, "method": "animate", "args": [[name], animate]} for name in names],
    }


def _with_numbers_in_order(label: str) -> list[tuple[int, str]]:
    """Sorts "5–7 words" before "11–13 words"."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", label)]


def learning_plane(
    moments: FloatArray,
    explained: tuple[float, float],
    names: Sequence[str],
    texts: Sequence[str],
    groups: Sequence[str] | Sequence[float],
    *,
    dark: bool = False,
) -> go.Figure:
    """The places of n texts at ``moments`` (moments, n, 2), the moments' ``names``, and for each of the texts its words
    and its group: a label, or a number, which is shown as a colour on a scale.

    The axes stay where they are, so that what moves is the texts. Begins at the last moment. Raises ValueError where
    lengths do not fit together.
    """
    n_moments, n = moments.shape[:2]
    if len(names) != n_moments or len(texts) != n or len(groups) != n:
        raise ValueError(f"points of shape {moments.shape} need a name a moment, and a text and a group each")
    colours = theme(dark)
    low, high = moments.min(axis=(0, 1)), moments.max(axis=(0, 1))
    room = np.maximum((high - low) * 0.06, 1e-3)
    ranges = np.stack([low - room, high + room]).T.tolist()
    return make_figure(
        _group_traces(moments[-1], texts, groups, dark),
        dark,
        height=520,
        margin=(8, 16, 28, 8),
        xaxis=component_axis(dark, 0, explained, range=ranges[0]),
        yaxis=component_axis(dark, 1, explained, range=ranges[1]),
        sliders=[
            _slider(names, n_moments - 1, 300, 250)
            | {
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
        frames=[
            go.Frame(name=name, data=[{"x": trace["x"], "y": trace["y"], "type": "scatter"} for trace in traces])
            for name, traces in zip(names, (_group_traces(at, texts, groups, dark) for at in moments), strict=True)
        ],
    )


def _group_traces(
    at: FloatArray, texts: Sequence[str], groups: Sequence[str] | Sequence[float], dark: bool
) -> list[dict[str, Any]]:
    """The texts of each group as a trace of its own; numbers make one trace with a scale."""
    hover = [token_text(clipped(text, 70)) for text in texts]
    if groups and not isinstance(groups[0], str):
        marker = {
            "color": list(groups),
            "colorscale": sequential(dark),
            "size": 9,
            "line": {"width": 1, "color": theme(dark).muted},  # the lowest scores have the page's colour
            "showscale": True,
            "colorbar": {"title": {"text": "score", "side": "right"}, "thickness": 10, "outlinewidth": 0},
        }
        settings: dict[str, Any] = {"text": hover, "customdata": list(groups), "showlegend": False}
        template = "%{text}<br>score %{customdata}<extra></extra>"
        return [points(at[:, 0].tolist(), at[:, 1].tolist(), marker, template, name="score", **settings)]
    labels = sorted(dict.fromkeys(map(str, groups)))
    palette = categorical(len(labels), dark)
    traces = []
    for number, label in enumerate(labels):
        members = [place for place, group in enumerate(groups) if group == label]
        name, x, y = token_text(label, 24), at[members, 0].tolist(), at[members, 1].tolist()
        marker = {"color": palette[number], "symbol": symbol(number), "size": 9}
        texts_of_label = [hover[place] for place in members]
        traces.append(points(x, y, marker, f"%{{text}}<extra>{name}</extra>", name=name, text=texts_of_label))
    return traces


def cka_by_layer(values: FloatArray, *, dark: bool = False) -> go.Figure:
    """Linear CKA of every layer before and after, (layers + 1,), as bars; the first is the embeddings."""
    places = list(range(len(values)))
    digits = 3 if len(values) <= 8 else 2
    return make_figure(
        [
            {
                "type": "bar",
                "x": places,
                "y": [float(value) for value in values],
                "marker": {"color": categorical(1, dark)[0]},
                **texts_outside([f"{value:.{digits}f}" for value in values], dark),
                "hovertemplate": "layer %{x}: CKA <b>%{y:.4f}</b><extra></extra>",
            }
        ],
        dark,
        height=300,
        bargap=0.25,
        margin=(8, 16, 28, 8),
        xaxis=columns(layer_names(len(values)), dark, "layer"),
        yaxis=axis(dark, "CKA of before and after", grid=True, range=[0, 1.08], tickvals=[0, 0.5, 1]),
    )


def sentence_plane(
    at: FloatArray, explained: tuple[float, float], sentences: Sequence[str], *, dark: bool = False
) -> go.Figure:
    """Sentences as points at places (n, 2), each with its number and its words when it is hovered."""
    return make_figure(
        [
            points(
                at[:, 0].tolist(),
                at[:, 1].tolist(),
                {"color": categorical(1, dark)[0], "size": 9},
                "%{text}: %{customdata}<extra></extra>",
                mode="markers+text",
                customdata=[token_text(clipped(sentence, 90)) for sentence in sentences],
                **texts_outside([str(place + 1) for place in range(len(sentences))], dark, "top center"),
            )
        ],
        dark,
        height=440,
        margin=(8, 16, 28, 8),
        xaxis=component_axis(dark, 0, explained),
        yaxis=component_axis(dark, 1, explained),
    )


def head_scatter(
    heads: Sequence[Head],
    across: HeadMeasure,
    up: HeadMeasure,
    colour: HeadMeasure,
    *,
    chosen: int | None = None,
    matches: Sequence[int] = (),
    matches_name: str = "found",
    dark: bool = False,
) -> go.Figure:
    """A point a head, in the order of ``heads``; one that a measure of the axes does not have is left out.

    ``chosen`` is the place of a head, shown with its intervals and a ring, ``matches`` those that a diamond surrounds;
    ``matches_name`` says in the legend what they are. Pointing at a head tells its three numbers with their intervals.
    Trace 0 has the points; ``customdata`` begins with (layer, head). Raises ValueError where the lengths differ.
    """
    measures = (across, up, colour)
    if {len(heads)} != {len(numbers) for m in measures for numbers in (m.values, m.lows, m.highs)}:
        raise ValueError(f"every measure needs a number for each of the {len(heads)} heads, with its interval")
    colours = theme(dark)
    drawn = [at for at in range(len(heads)) if np.isfinite([across.values[at], up.values[at]]).all()]
    names = head_names(heads)
    unique_measures = list({measure.name: measure for measure in measures}.values())  # each once
    hover = [
        f"{token_text(measure.name)}: %{{customdata[{place}]}}" for place, measure in enumerate(unique_measures, 2)
    ]
    shades = [_shade(colour, at, dark) for at in drawn]
    of_heads = points(
        _rounded(across, drawn),
        _rounded(up, drawn),
        {"color": shades, "size": 11, "line": {"width": 1, "color": colours.muted}},
        "<br>".join(["%{text}", *hover]) + "<extra></extra>",
        text=[names[at] for at in drawn],
        customdata=[(*heads[at], *(measure.number(at) for measure in unique_measures)) for at in drawn],
        showlegend=False,
        **CLICKED_AS_BEFORE,
    )
    marked = [at for at in matches if at in drawn]
    rings = []
    if chosen is not None and chosen in drawn:
        rings.append(_ring(heads, [chosen], across, up, "circle-open", 20, colours.primary, names[chosen], dark))
        rings[0]["error_x"], rings[0]["error_y"] = (
            error_bars([measure.values[chosen]], [measure.lows[chosen]], [measure.highs[chosen]], colours.primary)
            for measure in (across, up)
        )
    if marked:
        rings.append(
            _ring(heads, marked, across, up, "diamond-open", 18, colours.text, token_text(matches_name, 40), dark)
        )
    low, high = colour.limits
    marks = [(place, colour.format(low + place * (high - low))) for place in (0.0, 0.5, 1.0)]
    return make_figure(
        [of_heads, *rings],
        dark,
        clickmode="event+select",
        hovermode="closest",
        height=_PLOT + _AXIS + COLOUR_BAR_SPACE + 40,
        margin=(8, 16, 40, _AXIS + COLOUR_BAR_SPACE),
        xaxis=axis(dark, across.title, grid=True, range=_range(across)),
        yaxis=axis(dark, up.title, grid=True, range=_range(up)),
        shapes=scale_bar(sequential(dark), marks, f"colour: {colour.title}", dark, below=_AXIS),
        legend=LEGEND_ABOVE if rings else None,
    )


def _ring(
    heads: Sequence[Head],
    places: Sequence[int],
    across: HeadMeasure,
    up: HeadMeasure,
    form: str,
    size: int,
    colour: str,
    name: str,
    dark: bool,
) -> dict[str, Any]:
    """An outline around some points, with their names as layer.head beside them; clicks go through it."""
    texts = [f"{heads[at][0] + 1}.{heads[at][1] + 1}" for at in places]
    marker = {"symbol": form, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
    written = texts_outside(texts, dark) | {"textposition": _beside(across, up, places)}
    x, y = _rounded(across, places), _rounded(up, places)
    return points(x, y, marker, None, mode="markers+text", name=name, **written)


def _beside(across: HeadMeasure, up: HeadMeasure, places: Sequence[int]) -> list[str]:
    """On which side of its point each name goes: away from the nearest other point."""
    of_range = [(low, high - low) for low, high in (across.limits, up.limits)]
    x, y = (
        (measure.values[list(places)] - low) / size for measure, (low, size) in zip((across, up), of_range, strict=True)
    )
    positions = []
    for at in range(len(places)):
        far = (x - x[at]) ** 2 + (y - y[at]) ** 2
        far[at] = np.inf
        nearest = int(far.argmin())
        above = (y[at], at) >= (y[nearest], nearest)
        right = x[at] >= x[nearest] and x[at] < _NEAR_THE_EDGE
        positions.append(f"{'top' if above else 'bottom'} {'right' if right else 'left'}")
    return positions


def _shade(measure: HeadMeasure, head: int, dark: bool) -> str:
    """The colour of a head's number; the page's own where it has none."""
    value = measure.values[head]
    if np.isnan(value):
        return theme(dark).background
    low, high = measure.limits
    return str(filled("", sequential(dark), (value - low) / (high - low)).fill)


def _rounded(measure: HeadMeasure, heads: Sequence[int]) -> list[float]:
    """The numbers of some heads with the digits that a screen can show."""
    return [float(f"{measure.values[head]:.4g}") for head in heads]


def _range(measure: HeadMeasure) -> list[float]:
    low, high = measure.limits
    room = 0.04 * (high - low)
    return [low - room, high + room]
