"""How models learn: losses and scores by epoch or by second, one line a model, a band where there are several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import PERCENT, axis_style, base_layout, token_text
from viz.palette import categorical, theme

Over = Literal["epochs", "seconds"]

_SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")
_OVER: Final[Mapping[Over, str]] = {"epochs": "epochs", "seconds": "seconds of training"}
_LONGEST_NAME: Final = 32
_SMOOTHED: Final = 0.05  # of the steps: a batch's own loss jumps with its examples
_DASH: Final[dict[str, Any]] = {"dash": "dot", "width": 1.5}


@dataclass(frozen=True)
class Curve:
    """One training. ``steps`` are (epoch, seconds, loss of the batch) of each step, ``judged`` (epoch, seconds, mean
    loss, score) on the development part. Curves of one name are seeds of one model.
    """

    name: str
    steps: Sequence[tuple[float, float, float]]
    judged: Sequence[tuple[float, float, float, float]]


def losses(curves: Sequence[Curve], over: Over = "epochs", *, unit: str = "nats", dark: bool = False) -> go.Figure:
    """Loss of the training batches, smoothed, as thin lines; of the development part as lines with marks. The legend
    names the models, and of one model alone the two kinds of lines.

    Raises ValueError without curves.
    """
    traces = []
    by_name = _by_name(curves, dark)
    for name, colour, symbol, of_name in by_name:
        alone = len(by_name) == 1
        for place, curve in enumerate(of_name):
            x = [step[over == "seconds"] for step in curve.steps]
            y = smoothed([step[2] for step in curve.steps])
            thin = _trace(f"{name}: training", x, y, colour, width=1, hover="loss %{y:.3f}")
            thin |= {"opacity": 0.75, "showlegend": alone and place == 0}
            traces.append(thin | ({"name": "training"} if alone else {}))
        traces += _lines("development" if alone else name, of_name, over, 2, colour, symbol, "loss %{y:.3f}")
    return _figure(traces, _OVER[over], f"loss, {unit}", dark)


def scores(
    curves: Sequence[Curve],
    title: str,
    over: Over = "epochs",
    *,
    baseline: float | None = None,
    percent: bool = True,
    dark: bool = False,
) -> go.Figure:
    """A score on the development part; ``title`` names it. ``baseline`` is that of answering always alike.

    Raises ValueError without curves.
    """
    hover = "%{y:.1%}" if percent else "%{y:.3f}"
    traces = []
    for name, colour, symbol, of_name in _by_name(curves, dark):
        traces += _lines(name, of_name, over, 3, colour, symbol, hover)
    return _figure(traces, _OVER[over], f"{title} (development)", dark, percent=percent, baseline=baseline)


@dataclass(frozen=True, slots=True)
class Point:
    """A model trained on so many examples, and its score with an interval; points of one name make a line."""

    name: str
    examples: int
    value: float
    low: float
    high: float


def by_examples(
    points: Sequence[Point], title: str, *, percent: bool = True, baseline: float | None = None, dark: bool = False
) -> go.Figure:
    """Scores on the test part by the number of training examples, with bars over the intervals.

    Raises ValueError without points.
    """
    names = list(dict.fromkeys(point.name for point in points))
    if not names:
        raise ValueError("there is nothing to draw: no model has been trained")
    colours = categorical(len(names), dark)
    traces = []
    for place, name in enumerate(names):
        own = sorted((point for point in points if point.name == name), key=lambda point: point.examples)
        trace = _trace(
            token_text(name, _LONGEST_NAME),
            [point.examples for point in own],
            [point.value for point in own],
            colours[place],
            width=2,
            hover="%{y:.1%}" if percent else "%{y:.3f}",
            symbol=_SYMBOLS[place % len(_SYMBOLS)],
        )
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [point.high - point.value for point in own],
            "arrayminus": [point.value - point.low for point in own],
            "color": colours[place],
            "thickness": 1.5,
            "width": 4,
        }
        traces.append(trace)
    return _figure(traces, "training examples", f"{title} (test)", dark, percent=percent, baseline=baseline)


def _always_alike(traces: Sequence[dict[str, Any]], baseline: float, dark: bool) -> dict[str, Any]:
    """The line of answering always alike, named in the legend: beside the line there may be points."""
    furthest = max((x for trace in traces for x in trace["x"]), default=0)
    colour = theme(dark).muted
    line = _trace("always alike", [0, furthest or 1], [baseline, baseline], colour, width=1, hover="")
    return line | {"line": {**_DASH, "color": colour}, "hoverinfo": "skip", "hovertemplate": None, "showlegend": True}


def smoothed(values: Sequence[float]) -> FloatArray:
    """An exponential moving average that starts at the first value and forgets with the number of values."""
    rate = 1 / max(1.0, _SMOOTHED * len(values))
    found = np.empty(len(values), dtype=np.float32)
    mean = values[0] if values else 0.0
    for place, value in enumerate(values):
        mean += rate * (value - mean)
        found[place] = mean
    return found


def _by_name(curves: Sequence[Curve], dark: bool) -> list[tuple[str, str, str, list[Curve]]]:
    """Name, colour, mark and seeds of each model."""
    if not curves:
        raise ValueError("there is nothing to draw: no model is being trained")
    by_name: Mapping[str, list[Curve]] = {curve.name: [] for curve in curves}
    for curve in curves:
        by_name[curve.name].append(curve)
    colours = categorical(len(by_name), dark)
    return [
        (token_text(name, _LONGEST_NAME), colours[place], _SYMBOLS[place % len(_SYMBOLS)], of_name)
        for place, (name, of_name) in enumerate(by_name.items())
    ]


def _lines(
    name: str, seeds: Sequence[Curve], over: Over, what: int, colour: str, symbol: str, hover: str
) -> list[dict[str, Any]]:
    """The line of a model's judgements; of several seeds their mean, over the band from the least to the most."""
    points = [
        ([point[over == "seconds"] for point in curve.judged], [point[what] for point in curve.judged])
        for curve in seeds
        if curve.judged
    ]
    if not points:
        return []
    if len(points) == 1:
        (x, y), band = points[0], []
    else:
        shortest = min(len(x) for x, _ in points)
        x = np.mean([x[:shortest] for x, _ in points], axis=0).tolist()
        every = np.array([y[:shortest] for _, y in points])
        y = every.mean(axis=0).tolist()
        name = f"{name} ({len(points)} seeds)"
        band = [
            {
                "type": "scatter",
                "x": [*x, *reversed(x)],
                "y": [*every.max(axis=0).tolist(), *reversed(every.min(axis=0).tolist())],
                "fill": "toself",
                "fillcolor": _faint(colour),
                "line": {"width": 0},
                "mode": "lines",
                "hoverinfo": "skip",
                "showlegend": False,
            }
        ]
    return [*band, _trace(name, x, y, colour, width=2, hover=hover, symbol=symbol)]


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.2)"


def _trace(
    name: str,
    x: Sequence[float],
    y: Any,
    colour: str,
    *,
    width: int,
    hover: str,
    symbol: str | None = None,
) -> dict[str, Any]:
    unit = "%{x:.3~g}"
    return {
        "type": "scatter",
        "x": list(x),
        "y": np.asarray(y, dtype=float).tolist(),
        "name": name,
        "mode": "lines" if symbol is None else "lines+markers",
        "line": {"color": colour, "width": width},
        "cliponaxis": False,
        "hovertemplate": f"{unit}: <b>{hover}</b><extra>{name}</extra>",
        **({"marker": {"color": colour, "symbol": symbol, "size": 8}} if symbol is not None else {}),
    }


def _figure(
    traces: list[dict[str, Any]],
    x_title: str,
    y_title: str,
    dark: bool,
    *,
    percent: bool = False,
    baseline: float | None = None,
) -> go.Figure:
    """With a legend, unless there is one line alone."""
    colours = theme(dark)
    if baseline is not None:
        traces = [*traces, _always_alike(traces, baseline, dark)]
    axis = axis_style(colours) | {"fixedrange": True, "automargin": True, "showgrid": True, "gridcolor": colours.line,
                                  "ticklabelstandoff": 6}  # fmt: skip
    return go.Figure(
        data=traces,
        layout=base_layout(
            dark,
            height=330,
            dragmode=False,
            margin={"l": 8, "r": 16, "t": 16, "b": 8},
            xaxis=axis | {"rangemode": "tozero", "title": axis["title"] | {"text": x_title}},
            yaxis=axis | {"title": axis["title"] | {"text": y_title}, **({"tickformat": PERCENT} if percent else {})},
        )
        | (
            {"showlegend": True, "legend": {"orientation": "h", "x": 0, "yref": "container", "y": 0}}
            if len(traces) > 1
            else {"showlegend": False}
        ),
    )
