"""How models learn: losses and scores by epoch or by second, one line a model, a band where there are several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import axis, make_figure, score_axis, token_text
from viz.marks import LEGEND_BELOW, band, error_bars, line, symbol
from viz.palette import categorical, theme

Over = Literal["epochs", "seconds"]

_OVER: Final[Mapping[Over, str]] = {"epochs": "epochs", "seconds": "seconds of training"}
_LONGEST_NAME: Final = 32
_ABOVE_CHANCE: Final = 1.25  # where the axis of losses ends: the first batches can be worse than chance
_OF_BEST, _OF_OTHERS = 16, 8  # px of a mark
_SMOOTHED: Final = 0.05  # of the steps: a batch's own loss jumps with its examples


@dataclass(frozen=True)
class Curve:
    """One training. ``steps`` are (epoch, seconds, loss of the batch) of each step, ``evaluated`` (epoch, seconds, mean
    loss, score) on the development split; the one numbered ``best`` is that whose weights are kept. Curves of one name
    are seeds of one model. ``n_steps`` is how many steps there will be, where that is known.
    """

    name: str
    steps: Sequence[tuple[float, float, float]]
    evaluated: Sequence[tuple[float, float, float, float]]
    n_steps: int = 0
    best: int | None = None


def losses(
    curves: Sequence[Curve],
    over: Over = "epochs",
    *,
    until: float | None = None,
    chance: float | None = None,
    unit: str = "nats",
    dark: bool = False,
) -> go.Figure:
    """Loss of the training batches, smoothed, as thin lines; of the development split as lines with marks, a large one
    where the weights are kept. The legend names the models, and of one model alone the two kinds of lines.

    With ``until``, the epochs or seconds at the end, and ``chance``, the loss of who knows nothing, the axes stay as
    they are while the lines grow, unless a loss rises far above that of chance. Raises ValueError without curves.
    """
    traces = []
    by_name, highest = _by_name(curves, dark), 0.0
    for name, colour, marked, of_name in by_name:
        alone = len(by_name) == 1
        for place, curve in enumerate(of_name):
            x = [step[over == "seconds"] for step in curve.steps]
            y = smoothed([step[2] for step in curve.steps], curve.n_steps)
            highest = max([highest, *y, *(point[2] for point in curve.evaluated)])
            thin = _trace(f"{name}: training", x, y, colour, "loss %{y:.3f}", width=1, opacity=0.75)
            traces.append(thin | {"showlegend": alone and place == 0} | ({"name": "training"} if alone else {}))
        traces += _lines("development" if alone else name, of_name, over, 2, colour, marked, "loss %{y:.3f}")
    top = None if chance is None else 1.05 * max(_ABOVE_CHANCE * chance, highest)
    return _figure(traces, _OVER[over], f"loss, {unit}", dark, until=until, top=top)


def scores(
    curves: Sequence[Curve],
    title: str,
    over: Over = "epochs",
    *,
    until: float | None = None,
    baseline: float | None = None,
    percent: bool = True,
    dark: bool = False,
) -> go.Figure:
    """A score on the development split; ``title`` names it. ``baseline`` is that of the majority baseline. With
    ``until``, the epochs or seconds at the end, the axes stay as they are while the lines grow.

    Raises ValueError without curves.
    """
    hover = "%{y:.1%}" if percent else "%{y:.3f}"
    traces = []
    for name, colour, marked, of_name in _by_name(curves, dark):
        traces += _lines(name, of_name, over, 3, colour, marked, hover)
    top = 1.0 if until is not None and percent else None
    y_title = f"{title} (development)"
    return _figure(traces, _OVER[over], y_title, dark, percent=percent, baseline=baseline, until=until, top=top)


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
    """Scores on the test split by the number of training examples, with bars over the intervals.

    Raises ValueError without points.
    """
    names = list(dict.fromkeys(point.name for point in points))
    if not names:
        raise ValueError("there is nothing to draw: no model has been trained")
    colours = categorical(len(names), dark)
    traces = []
    for place, name in enumerate(names):
        of_name = sorted((point for point in points if point.name == name), key=lambda point: point.examples)
        x, values, lows, highs = zip(*((of.examples, of.value, of.low, of.high) for of in of_name), strict=True)
        intervals = error_bars(values, lows, highs, colours[place])
        safe, hover = token_text(name, _LONGEST_NAME), "%{y:.1%}" if percent else "%{y:.3f}"
        traces.append(_trace(safe, x, values, colours[place], hover, marked=symbol(place), error_y=intervals))
    return _figure(traces, "training examples", f"{title} (test)", dark, percent=percent, baseline=baseline)


def smoothed(values: Sequence[float], n: int = 0) -> FloatArray:
    """An exponential moving average, float32 (values,), that starts at the first value and forgets with the number of
    values, or with the ``n`` that there will be.
    """
    rate = 1 / max(1.0, _SMOOTHED * max(n, len(values)))
    averages = np.empty(len(values), dtype=np.float32)
    mean = values[0] if values else 0.0
    for place, value in enumerate(values):
        mean += rate * (value - mean)
        averages[place] = mean
    return averages


def _by_name(curves: Sequence[Curve], dark: bool) -> list[tuple[str, str, str, list[Curve]]]:
    """Name, colour, mark and seeds of each model."""
    if not curves:
        raise ValueError("there is nothing to draw: no model is being trained")
    by_name: Mapping[str, list[Curve]] = {curve.name: [] for curve in curves}
    for curve in curves:
        by_name[curve.name].append(curve)
    colours = categorical(len(by_name), dark)
    return [
        (token_text(name, _LONGEST_NAME), colours[place], symbol(place), of_name)
        for place, (name, of_name) in enumerate(by_name.items())
    ]


def _lines(
    name: str, seeds: Sequence[Curve], over: Over, column: int, colour: str, marked: str, hover: str
) -> list[dict[str, Any]]:
    """The line of a model's judgements, the best marked; of several seeds, whose best epochs differ, their mean, over
    the band from the least to the most.
    """
    points = [
        ([point[over == "seconds"] for point in curve.evaluated], [point[column] for point in curve.evaluated])
        for curve in seeds
        if curve.evaluated
    ]
    if not points:
        return []
    if len(points) == 1:
        (x, y), spread = points[0], []
        best = next(curve.best for curve in seeds if curve.evaluated)
        sizes = {"size": [_OF_BEST if place == best else _OF_OTHERS for place in range(len(x))], "opacity": 1}
    else:
        shortest = min(len(x) for x, _ in points)
        x = np.mean([x[:shortest] for x, _ in points], axis=0).tolist()
        every = np.array([y[:shortest] for _, y in points])
        y = every.mean(axis=0).tolist()
        name = f"{name} ({len(points)} seeds)"
        spread = [band(name, x, every.min(axis=0).tolist(), every.max(axis=0).tolist(), colour) | {"showlegend": False}]
        sizes = {}
    trace = _trace(name, x, y, colour, hover, marked=marked)
    return [*spread, trace | {"marker": trace["marker"] | sizes}]


def _trace(name: str, x: Sequence[float], y: Any, colour: str, hover: str, **settings: Any) -> dict[str, Any]:
    """A line whose points say their place and, as ``hover``, their value."""
    template = f"%{{x:.3~g}}: <b>{hover}</b><extra>{name}</extra>"
    return line(name, x, np.asarray(y, dtype=float).tolist(), colour, hover=template, cliponaxis=False, **settings)


def _figure(
    traces: list[dict[str, Any]],
    x_title: str,
    y_title: str,
    dark: bool,
    *,
    percent: bool = False,
    baseline: float | None = None,
    until: float | None = None,
    top: float | None = None,
) -> go.Figure:
    """Draws lines with a legend, unless there is one line alone; axes end at ``until`` and ``top`` where these are
    known.
    """
    if baseline is not None:  # beside its line there may be points
        furthest = until or max((x for trace in traces for x in trace["x"]), default=0) or 1
        style: dict[str, Any] = {"width": 1.5, "dash": "dot", "cliponaxis": False, "showlegend": True}
        traces.append(line("majority baseline", [0, furthest], [baseline, baseline], theme(dark).muted, **style))
    x_range = {"rangemode": "tozero"} if until is None else {"range": [0, until]}
    y_range = {} if top is None else {"range": [0, top]}
    return make_figure(
        traces,
        dark,
        height=330,
        margin=(8, 16, 16, 8),
        xaxis=axis(dark, x_title, grid=True, ticklabelstandoff=6, **x_range),
        yaxis=score_axis(dark, y_title, percent=percent, ticklabelstandoff=6, **y_range),
        legend=LEGEND_BELOW if len(traces) > 1 else None,
    )
