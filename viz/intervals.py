"""Figures of dots with their intervals: measures of heads, relations, models and sets beside each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from analysis.corpus.importance import HeadComparison
from analysis.minimal_pairs import Accuracy
from model_zoo.types import format_interval
from viz.head_measure import Head, HeadMeasure
from viz.layout import PERCENT, axis, head_names, log_axis, make_figure, note, rows, score_axis, token_text
from viz.marks import CLICKED_AS_BEFORE, LEGEND_BELOW, error_bars, points, symbol, texts_outside
from viz.palette import categorical, theme

_LONGEST_NAME: Final = 34  # characters beside a row
_FORMS: Final = ("line-ns-open", "x-thin-open", "triangle-up-open", "square-open", "star-open")


def accuracy_bars(accuracies: Sequence[Accuracy], *, dark: bool = False) -> go.Figure:
    """How often the right one of two sentences was preferred, for each phenomenon: accuracy (0 to 100%) with its 95%
    interval, the first row on top; a dotted line at the level of guessing.
    """
    (plain,) = categorical(1, dark)
    names = [row.paradigm or row.phenomenon or "all pairs" for row in accuracies]
    values = [row.accuracy for row in accuracies]
    lows, highs = [row.low for row in accuracies], [row.high for row in accuracies]
    title = "correct sentence preferred (dotted: guessing)"
    drawn = make_figure(
        [
            points(
                values,
                list(range(len(values))),
                {"color": plain, "size": 10},
                "%{hovertext}: %{x:.1%} of %{customdata[0]:,} pairs"
                "<br>95% interval %{customdata[1]:.0%} to %{customdata[2]:.0%}<extra></extra>",
                hovertext=[token_text(name) for name in names],
                error_x=error_bars(values, lows, highs, plain, 2),
                customdata=[[row.n, row.low, row.high] for row in accuracies],
                cliponaxis=False,
            )
        ],
        dark,
        height=26 * len(accuracies) + 76,
        margin=(8, 16, 28, 44),
        bargap=0.25,
        xaxis=axis(dark, title, grid=True, range=[-0.02, 1.02], tickformat=".0%"),
        yaxis=rows([token_text(name, _LONGEST_NAME) for name in names], dark),
    )
    drawn.add_vline(0.5, line={"color": theme(dark).muted, "dash": "dot", "width": 1})
    return drawn


@dataclass(frozen=True, slots=True)
class RelationScore:
    """A relation: its best head, in how many of ``n`` words that head found the partner, as a share with its interval;
    the same of all that it is compared with, by name, and of several heads together where these were tried.
    """

    relation: str
    head: Head
    n: int
    value: float
    low: float
    high: float
    beside: Mapping[str, float] = field(default_factory=dict)
    ensemble: float | None = None


def relation_dots(
    relations: Sequence[RelationScore], *, quantity: str = "found", whose: str = "best head", dark: bool = False
) -> go.Figure:
    """How well each relation is found, a row a relation, those found best on top: a point with its interval for the
    best head, other marks for what it is compared with, which are the same of all relations. ``quantity`` names a
    share, ``whose`` the head.

    Trace 0 has the best heads; its ``customdata`` is (place of the relation in the order given, layer, head), from 0.
    Raises ValueError without relations.
    """
    if not relations:
        raise ValueError("there is no relation to draw")
    order = sorted(range(len(relations)), key=lambda at: -relations[at].value)
    ordered = [relations[at] for at in order]
    colours = theme(dark)
    several, *inks = categorical(2, dark)[1:] + [colours.text, colours.muted] * 3

    def marks(name: str, values: Sequence[float | None], form: str, size: int, colour: str) -> dict[str, Any]:
        """A mark in every row that has a number."""
        hover = [name if value is None else f"{name}: <b>{value:.1%}</b>" for value in values]
        marker = {"symbol": form, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
        return points(values, list(range(len(values))), marker, hover, name=name, **CLICKED_AS_BEFORE)

    values = [relation.value for relation in ordered]
    lows, highs = [relation.low for relation in ordered], [relation.high for relation in ordered]
    best = marks(whose, values, "circle", 10, colours.primary) | {
        "error_x": error_bars(values, lows, highs, colours.primary),
        "hovertext": [
            f"{token_text(relation.relation)}<br>{head}: <b>{relation.value:.1%}</b> of {relation.n:,} "
            f"({relation.low:.1%} to {relation.high:.1%})"
            for relation, head in zip(ordered, head_names([relation.head for relation in ordered]), strict=True)
        ],
        "customdata": [(at, *relations[at].head) for at in order],
    }
    traces = [best]
    for place, name in enumerate(dict.fromkeys(name for relation in ordered for name in relation.beside)):
        beside = [relation.beside.get(name) for relation in ordered]
        traces.append(marks(token_text(name), beside, _FORMS[place], 11, inks[place]))
    if any(relation.ensemble is not None for relation in ordered):
        traces.append(marks("several heads", [relation.ensemble for relation in ordered], "diamond-open", 12, several))
    above = 44 + 20 * max(2, len(traces))  # px: the axis, and the legend, of which each entry has a line on a phone
    names = [
        f"{token_text(relation.relation, _LONGEST_NAME)}  {relation.head[0] + 1}.{relation.head[1] + 1}"
        for relation in ordered
    ]
    return make_figure(
        traces,
        dark,
        clickmode="event+select",
        hovermode="closest",
        height=24 * len(ordered) + above + 8,
        margin=(8, 16, above, 8),
        xaxis=axis(dark, quantity, grid=True, range=[-0.02, 1.02], tickformat=".0%", side="top"),
        yaxis=rows(names, dark, showgrid=True),
        legend={"orientation": "h", "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"}
        | {"maxheight": 1},  # else it is cut where rows are few
    )


def measure_dots(heads: Sequence[Head], measures: Sequence[HeadMeasure], head: int, *, dark: bool = False) -> go.Figure:
    """A row a measure: a point with its interval for the head at a place of ``heads``, a tick for each other head. A
    row has a range of its own, from 0 to the largest number of any head, which stand at its ends.

    Trace 0 has the ticks; ``customdata`` is (layer, head). Raises ValueError without measures, or where a measure has
    other than a number a head.
    """
    if not measures or {len(measure.values) for measure in measures} != {len(heads)}:
        raise ValueError(f"{len(heads)} heads are to be drawn by at least one measure, with a number each")
    colours = theme(dark)
    names = head_names(heads)
    others = [
        (row, at)
        for row, measure in enumerate(measures)
        for at in np.flatnonzero(np.isfinite(measure.values)).tolist()
        if at != head
    ]
    known = [(row, measure) for row, measure in enumerate(measures) if np.isfinite(measure.values[head])]
    value, low, high = (
        [measure.position(numbers[head]) for (_, measure), numbers in zip(known, of_all, strict=True)]
        for of_all in ([m.values for _, m in known], [m.lows for _, m in known], [m.highs for _, m in known])
    )
    faint = {"marker": {"opacity": 0.55}}
    ticks = points(
        [round(measures[row].position(measures[row].values[at]), 4) for row, at in others],
        [row for row, _ in others],
        {"symbol": "line-ns-open", "size": 12, "color": colours.muted, "opacity": 0.55, "line": {"width": 1}},
        [f"{names[at]}: {measures[row].format(measures[row].values[at])}" for row, at in others],
        name="every other head",
        customdata=[heads[at] for _, at in others],
        selected=faint,
        unselected=faint,
    )
    dots = points(
        value,
        [row for row, _ in known],
        {"size": 12, "color": colours.primary, "line": {"width": 1, "color": colours.background}},
        [f"{token_text(measure.name)}: {measure.number(head)}" for _, measure in known],
        name=names[head],
        **CLICKED_AS_BEFORE,
        error_x=error_bars(value, low, high, colours.primary, 2.5),
    )
    labels = []
    for measure in measures:
        unknown = np.isnan(measure.values[head])
        number = "not defined" if unknown else f"<b>{measure.format(measure.values[head])}</b>{measure.after}"
        labels.append(f"{token_text(measure.name, 30)}<br>{number}")
    return make_figure(
        [ticks, dots],
        dark,
        clickmode="event+select",
        hovermode="closest",
        height=50 * len(measures) + 48,
        margin=(8, 20, 8, 40),
        xaxis=axis(dark, range=[-0.02, 1.02], showticklabels=False),
        yaxis=rows(labels, dark),
        annotations=[
            note(measure.format(end), side, row, colours.muted, 11, xref="x", yref="y", yshift=-18)
            for row, measure in enumerate(measures)
            for side, end in enumerate(measure.limits)
        ],
        legend=LEGEND_BELOW,
    )


def switched_off(effects: HeadComparison, quantity: str, *, right: bool = False, dark: bool = False) -> go.Figure:
    """What is lost when one head is off: a row a set of heads, the head itself on top, then others of its layer by
    themselves, then all of the layer: the mean change of a score with its interval, ``quantity`` names it; or with
    ``right`` the share of right answers, where a dotted line is at that with nothing off.

    Trace 0 is the head, 1 the others, 2 the whole layer.
    """
    colours = theme(dark)
    sets = [effects.head, *effects.others, effects.layer]
    ((layer, head),) = effects.head.heads
    others = [f"head {effect.heads[0][1] + 1}" for effect in effects.others]
    names = [f"<b>head {head + 1}</b>", *others, "the whole layer"]
    traces = []
    for name, places, form, colour, size in (
        (f"layer {layer + 1}, head {head + 1}", [0], "circle", colours.primary, 12),
        ("other heads of the layer", list(range(1, len(sets) - 1)), "circle-open", colours.muted, 10),
        ("all heads of the layer", [len(sets) - 1], "square-open", colours.text, 10),
    ):
        means = [sets[place].right if right else sets[place].change for place in places]
        values, lows, highs = ([getattr(mean, part) for mean in means] for part in ("value", "low", "high"))
        marker = {"symbol": form, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
        hover = [
            f"{names[place]} off: {format_interval(mean.value, mean.low, mean.high, '.1%' if right else '.3f')}"
            for place, mean in zip(places, means, strict=True)
        ]
        intervals = error_bars(values, lows, highs, colour, 2)
        traces.append(points(values, places, marker, hover, name=name, error_x=intervals, cliponaxis=False))
    drawn = make_figure(
        traces,
        dark,
        height=26 * len(sets) + 96,
        margin=(8, 16, 8, 88),
        bargap=0.25,
        xaxis=axis(dark, token_text(quantity), grid=True, zero=not right, tickformat=PERCENT if right else None),
        yaxis=rows(names, dark),
        legend=LEGEND_BELOW,
    )
    drawn.add_vline(
        effects.right.value if right else 0.0,
        line={"color": colours.muted, "dash": "dot" if right else "solid", "width": 1},
    )
    return drawn


@dataclass(frozen=True, slots=True)
class Entry:
    """A model: what it costs, and its score with an interval."""

    name: str
    cost: float
    value: float
    low: float
    high: float


def score_by_cost(
    entries: Sequence[Entry], cost: str, score: str, *, percent: bool = True, dark: bool = False
) -> go.Figure:
    """Scores by cost, which is on a logarithmic axis, with bars over the intervals: up and to the left is better.

    Raises ValueError without entries, and for a cost that is not above 0.
    """
    if not entries or min(entry.cost for entry in entries) <= 0:
        raise ValueError("models are drawn by costs above 0, and there has to be one")
    costs = [entry.cost for entry in entries]
    lowest, highest = min(costs) / 1.25, max(costs) * 1.5  # with room for a name
    ticks = _ticks(lowest, highest)
    hover = "%{y:.1%}" if percent else "%{y:.3f}"
    by_cost = sorted(entries, key=lambda entry: entry.cost)
    at = {entry: f"{'top' if place % 2 else 'bottom'} right" for place, entry in enumerate(by_cost)}  # by turns
    traces = [
        points(
            [entry.cost],
            [entry.value],
            {"color": colour, "symbol": symbol(place), "size": 11},
            f"%{{x:.3~g}}: <b>{hover}</b><extra>{token_text(entry.name)}</extra>",
            mode="markers+text",
            name=token_text(entry.name, 24),
            error_y=error_bars([entry.value], [entry.low], [entry.high], colour),
            **texts_outside([token_text(entry.name, 24)], dark, at[entry]),
        )
        for place, (entry, colour) in enumerate(zip(entries, categorical(len(entries), dark), strict=True))
    ]
    return make_figure(
        traces,
        dark,
        height=330,
        margin=(8, 24, 32, 8),
        xaxis=log_axis(dark, cost, ticks, [f"{tick:g}" for tick in ticks], range=np.log10([lowest, highest]).tolist()),
        yaxis=score_axis(dark, f"{score} (test)", percent=percent),
    )


def _ticks(lowest: float, highest: float) -> list[float]:
    """1, 2, 5, 10, 20, … between two numbers, and all the digits where that would be fewer than three: Plotly's own are
    digits without their power of ten.
    """
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    for digits in ((1, 2, 5), range(1, 10)):
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        ticks = [tick for tick in ticks if lowest <= tick <= highest]
        if len(ticks) >= 3:
            break
    return ticks
