"""Figures of lines over places on an axis: layers, numbers of heads, tokens, probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import plotly.graph_objects as go

from analysis.corpus.importance import Curve
from analysis.latency import Latency
from analysis.lens_fit import JudgedLens
from analysis.pairs import Judged
from analysis.probing.results import TaskResult
from model_zoo.types import MaskLens
from viz.layout import axis, columns, headline, layer_names, log_axis, make_figure, note, score_axis, token_text
from viz.marks import LEGEND_ABOVE, LEGEND_BELOW, band, error_bars, line, symbol
from viz.palette import categorical, theme

_LEGEND_ROW: Final = 22  # px a line: on a phone each name gets a row of its own
_MOST_LABELS: Final = 18


def curves(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    quantity: str,
    across: str = "",
    span: tuple[float, float] = (0, 1),
    share: bool = False,
    dark: bool = False,
) -> go.Figure:
    """A line a series (its name, a number a label), named above the picture, numbers exact on hovering.

    ``quantity`` names the numbers and ``across`` the labels; the numbers' axis reaches over ``span``, further where
    numbers lie outside of it. A line ends where its numbers are nan. With a ``share`` they are written as percentages.
    Raises ValueError where numbers do not fit the labels.
    """
    if not series or any(len(values) != len(labels) for _, values in series):
        raise ValueError(f"the numbers do not fit {len(labels)} labels")
    known = [value for _, values in series for value in values if value == value]  # nan: a line that ends before
    low, high = min([span[0], *known]), max([span[1], *known])
    room = 0.03 * (high - low)
    above = _LEGEND_ROW * len(series) + 12
    places = list(range(len(labels)))
    step = 1 + (len(labels) - 1) // _MOST_LABELS
    named: dict[str, Any] = {"tickvals": places[::step], "ticktext": [token_text(label) for label in labels[::step]]}
    lines = []
    for number, ((name, values), colour) in enumerate(zip(series, categorical(len(series), dark), strict=True)):
        hover = [
            f"{token_text(name)}<br>{token_text(f'{across} {label}'.strip())}: "
            f"<b>{format(value, '.1%' if share else '.4f')}</b>".replace("<b>-", "<b>−")
            for label, value in zip(labels, values, strict=True)
        ]
        template = "%{hovertext}<extra></extra>"
        of_series: dict[str, Any] = {"marked": symbol(number), "hover": template, "hovertext": hover}
        lines.append(line(token_text(name, 40), places, values, colour, **of_series))
    numbers: dict[str, Any] = {"range": [low - room, high + room], "tickformat": ".0%" if share else ""}
    return make_figure(
        lines,
        dark,
        height=max(340, above + 260),
        margin=(8, 16, above, 48),
        xaxis=axis(dark, token_text(across) if across else "", range=[-0.3, len(labels) - 0.7], **named),
        yaxis=axis(dark, token_text(quantity), grid=True, **numbers),
        legend=LEGEND_ABOVE | {"orientation": "v"},
    )


def _with_bands(
    series: Sequence[tuple[str, Sequence[float], Sequence[tuple[float, float, float]]]],
    hover: str,
    form: str,
    dark: bool,
    unit: str = "",
) -> list[dict[str, Any]]:
    """Lines over the bands of their intervals: of each its name, its places, and there a number with the ends of its
    interval (nan: none). ``hover`` says a place, ``form`` is the format of the numbers.
    """
    bands, lines = [], []
    for number, ((name, x, estimates), colour) in enumerate(zip(series, categorical(len(series), dark), strict=True)):
        safe = token_text(name)
        known = [(at, low, high) for at, (_, low, high) in zip(x, estimates, strict=True) if not math.isnan(low + high)]
        places, lows, highs = ([row[part] for row in known] for part in range(3))
        bands.append(band(safe, places, lows, highs, colour) | {"showlegend": False})
        values, ends = [value for value, _, _ in estimates], [(low, high) for _, low, high in estimates]
        interval = f" (%{{customdata[0]:{form}}} to %{{customdata[1]:{form}}})" if known else ""
        template = f"{hover}: <b>%{{y:{form}}}{unit}</b>{interval}<extra>{safe}</extra>"
        lines.append(line(safe, x, values, colour, marked=symbol(number), size=7, customdata=ends, hover=template))
    return [*bands, *lines]


def _level(name: str, ends: Sequence[float], value: float, dark: bool) -> dict[str, Any]:
    """A dotted line at one number, named in the legend."""
    return line(name, ends, [value] * 2, theme(dark).muted, width=1.5, dash="dot") | {"showlegend": True}


def lens_distances(judged: JudgedLens, *, dark: bool = False) -> go.Figure:
    """How far the logit lens and a fitted lens are from the final prediction after every layer: a line a lens over the
    band of its 95% intervals, and a dotted one at the average answer.
    """
    layers = list(range(len(judged.logit)))
    ends = [-0.2, len(layers) - 0.8]
    series = [
        (name, layers, [(distance.mean, distance.low, distance.high) for distance in distances])
        for name, distances in (("logit lens", judged.logit), ("fitted lens", judged.fitted))
    ]
    return make_figure(
        [
            *_with_bands(series, "after layer %{x}", ".2f", dark, " nats"),
            _level("average answer", ends, judged.average.mean, dark),
        ],
        dark,
        height=320,
        margin=(8, 16, 40, 8),
        title=headline("Distance from the final prediction", dark),
        xaxis=axis(dark, "layer (0: embeddings)", range=ends, dtick=max(1, len(layers) // 12)),
        yaxis=axis(dark, "KL divergence, nats", grid=True, rangemode="tozero"),
        legend=LEGEND_BELOW,
    )


def lens_ranks(
    lens: MaskLens, original: str | None = None, fitted: MaskLens | None = None, *, dark: bool = False
) -> go.Figure:
    """The rank of a mask's final answer after every layer, on a logarithmic axis with 1 at the top, and of the word
    that was masked where it is not the answer itself. With a ``fitted`` lens of the same mask, the ranks by either: a
    colour for each lens, dots for the original.
    """
    words = [("the answer", lens.answer.token, "solid")]
    if lens.original_ranks is not None and lens.original_ranks != lens.ranks:
        words.append(("what was there", original or "", "dot"))
    series: list[tuple[str, tuple[int, ...], int, str]] = []
    for place, (by, mask) in enumerate((("logit lens", lens), ("fitted lens", fitted))):
        if mask is None:
            continue
        for (role, token, dash), ranks in zip(words, (mask.ranks, mask.original_ranks or ()), strict=False):
            name = f"{role if fitted is None else by}: {token_text(token, 14)}"
            series.append((name, ranks, len(series) if fitted is None else place, dash))
    colours = categorical(2, dark)
    highest = max(max(ranks) for _, ranks, _, _ in series)
    ends = [max(0.5, math.log10(highest)) + 0.35, -0.15]
    row = 18  # px of the legend
    return make_figure(
        [
            line(
                name,
                list(range(len(ranks))),
                ranks,
                colours[colour],
                marked=symbol(colour if fitted else 0),
                size=7,
                dash=dash,
                hover=f"after layer %{{x}}: rank %{{y:,}}<extra>{name if fitted else ''}</extra>",
                cliponaxis=False,
            )
            for name, ranks, colour, dash in series
        ],
        dark,
        height=320,
        margin=(8, 16, 16 + row * (1 + len(series)), 44),
        title=headline("Rank of the final prediction", dark),
        # Plotly's own legend makes the plot narrower where the figure is narrow; this one leaves it alone.
        annotations=[
            note(
                f'<span style="color:{colours[colour]}">{"●" if dash == "solid" else "⋯"}</span> {name}',
                0,
                1,
                theme(dark).text,
                12,
                xanchor="left",
                yanchor="bottom",
                yshift=8 + row * (len(series) - 1 - place),
            )
            for place, (name, _, colour, dash) in enumerate(series)
        ],
        xaxis=axis(dark, "layer (0: embeddings)", dtick=max(1, len(lens.ranks) // 12)),
        yaxis=axis(dark, "rank, logarithmic", grid=True, type="log", autorange=False, range=ends, dtick=1),
    )


def pruning(
    orders: Sequence[Curve],
    score: str,
    n_heads: int,
    *,
    percent: bool,
    baseline: tuple[str, float] | None = None,
    dark: bool = False,
) -> go.Figure:
    """A score over the number of heads that are off: a line an order of heads, over a band from ``low`` to ``high`` of
    its points, and a dotted line at the ``baseline`` (its name, its value). ``score`` names the score, which with
    ``percent`` is a share. The axis reaches to all ``n_heads``.

    Raises ValueError without curves.
    """
    if not orders:
        raise ValueError("there is nothing to draw: no curve is known")
    series = [
        (curve.name, list(curve.counts), [(mean.value, mean.low, mean.high) for mean in curve.scores])
        for curve in orders
    ]
    traces = _with_bands(series, "%{x} heads off", ".1%" if percent else ".3f", dark)
    if baseline is not None:
        traces.append(_level(token_text(baseline[0]), [0, n_heads], baseline[1], dark))
    ticks: dict[str, Any] = {"range": [-0.02 * n_heads, 1.02 * n_heads], "dtick": 1 if n_heads <= 12 else None}
    return make_figure(
        traces,
        dark,
        height=360,
        margin=(8, 16, 16, 8),
        xaxis=axis(dark, "heads that are off", grid=True, ticklabelstandoff=6, **ticks),
        yaxis=score_axis(dark, token_text(score), percent=percent, ticklabelstandoff=6),
        legend=LEGEND_BELOW,
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """How vectors of one kind rank scored pairs: (layer, Spearman's ρ, low, high) each, NaN where ρ is not defined.
    ``varied`` says that something was done to them, for which the line of ``name`` is drawn dotted.
    """

    name: str
    varied: bool
    points: Sequence[tuple[int, float, float, float]]


def rho_by_layer(rankings: Sequence[Ranking], varied: str, *, dark: bool = False) -> go.Figure:
    """Spearman's ρ by layer, a line for each ranking, with its interval when hovered; lines of one name have one
    colour. ``varied`` says in a few words what was done for those that are dotted.

    Raises ValueError without any.
    """
    if not rankings:
        raise ValueError("there is nothing to draw: no pooling was measured")
    names = list(dict.fromkeys(ranking.name for ranking in rankings))
    palette = categorical(len(names), dark)
    n_layers = 1 + max(layer for ranking in rankings for layer, *_ in ranking.points)
    traces = []
    for ranking in rankings:
        place = names.index(ranking.name)
        name, dash, marked = ranking.name, "solid", symbol(place)
        if ranking.varied:
            name, dash, marked = f"{name}, {varied}", "dot", f"{marked}-open"
        layers = [layer for layer, *_ in ranking.points]
        rhos = [None if math.isnan(rho) else rho for _, rho, _, _ in ranking.points]
        ends = [[low, high] for _, _, low, high in ranking.points]
        interval = "(%{customdata[0]:.2f} to %{customdata[1]:.2f})"
        hover = f"layer %{{x}}: <b>%{{y:.3f}}</b> {interval}<extra>{token_text(name)}</extra>"
        style: dict[str, Any] = {"dash": dash, "marked": marked, "size": 9, "customdata": ends, "hover": hover}
        traces.append(line(token_text(name), layers, rhos, palette[place], **style))
    return make_figure(
        traces,
        dark,
        height=380,
        margin=(8, 16, 16, 8),
        xaxis=columns(layer_names(n_layers), dark, "layer", showgrid=True),
        yaxis=axis(dark, "Spearman’s ρ with the scores", grid=True),
        legend=LEGEND_BELOW,
    )


def probe_curve(result: TaskResult, title: str, *, dark: bool = False) -> go.Figure:
    """One task's accuracy over the layers with its intervals, the baselines, the control task and random weights; with
    several seeds, the band that they span.
    """
    judges = result.baselines[1:]
    real, untrained, control, *others = categorical(3 + len(judges), dark)
    x = [layer.layer for layer in result.layers]
    traces = []
    if len(result.accuracies) > 1:
        seeds = np.array(result.accuracies)
        traces.append(band(f"{len(seeds)} seeds", x, seeds.min(axis=0).tolist(), seeds.max(axis=0).tolist(), real))
    accuracies = [layer.accuracy for layer in result.layers]
    lows, highs = [layer.low for layer in result.layers], [layer.high for layer in result.layers]
    intervals = error_bars(accuracies, lows, highs, real, 1)
    hover = "%{y:.1%}<extra>accuracy</extra>"
    traces.append(line("accuracy", x, accuracies, real, marked=symbol(0), size=6, error_y=intervals, hover=hover))
    for judge, colour in zip(result.baselines, [theme(dark).muted, *others], strict=True):
        hover = f"%{{y:.1%}}<extra>{judge.name}</extra>"
        ends, level = [x[0], x[-1]], [judge.accuracy, judge.accuracy]
        traces.append(line(judge.name, ends, level, colour, dash="dash", width=1.5, hover=hover))
    for name, values, colour in (
        ("random weights", [layer.untrained_accuracy for layer in result.layers], untrained),
        ("control task", [layer.control_accuracy for layer in result.layers], control),
    ):
        if all(value is not None for value in values):
            hover = f"%{{y:.1%}}<extra>{name}</extra>"
            traces.append(line(name, x, values, colour, marked=symbol(0), size=6, dash="dot", width=1.5, hover=hover))
    return make_figure(
        traces,
        dark,
        dragmode="zoom",
        title=headline(title, dark),
        height=360,
        margin=(10, 10, 50, 10),
        hovermode="x unified",
        xaxis=columns(layer_names(len(x)), dark, "layer", fixedrange=False),
        yaxis=axis(dark, "accuracy", grid=True, range=[0, 1.03], tickformat=".0%", fixedrange=False),
        legend={"orientation": "h", "y": -0.2},
    )


def calibration(judged: Judged, *, dark: bool = False) -> go.Figure:
    """How often pairs given a probability really were next: one point per bin at (mean probability, share that was
    next), its area by the number of pairs; on the diagonal, probabilities are right.
    """
    colours = theme(dark)
    largest = max(bin_.n for bin_ in judged.bins)
    shares: dict[str, Any] = {"grid": True, "range": [-0.04, 1.04], "tickformat": ".0%"}
    return make_figure(
        [
            line("", [0, 1], [0, 1], colours.muted, width=1, dash="dot"),
            line(
                "",
                [bin_.mean for bin_ in judged.bins],
                [bin_.share_next for bin_ in judged.bins],
                colours.primary,
                hover="%{customdata[0]} pairs given %{customdata[1]:.0%} to %{customdata[2]:.0%}"
                "<br>mean %{x:.1%}, labelled 1 %{y:.1%}<extra></extra>",
                mode="lines+markers",
                marker={"color": colours.primary, "size": [8 + 16 * (b.n / largest) ** 0.5 for b in judged.bins]},
                customdata=[[bin_.n, bin_.low, bin_.high] for bin_ in judged.bins],
            ),
        ],
        dark,
        height=360,
        margin=(8, 8, 28, 44),
        xaxis=axis(dark, "mean probability of the bin", **shares),
        yaxis=axis(dark, "share labelled 1", **shares),
    )


Measure = Literal["latency", "tokens", "words"]

_COSTS: Final[Mapping[Measure, tuple[str, str]]] = {
    "latency": ("milliseconds per text", "ms"),
    "tokens": ("tokens per second", "tokens/s"),
    "words": ("words per second", "words/s"),
}


def by_length(
    latencies: Mapping[str, Sequence[Latency]], measure: Measure, *, names: Mapping[str, str], dark: bool = False
) -> go.Figure:
    """What models cost by length of text: medians by the number of tokens, bars over the middle half of the passes.

    Both axes are logarithmic: lengths double from tick to tick, and models that are far apart are all readable. There,
    a time that grows with the length is a line with the slope of the dotted one, and one that grows with its square
    rises twice as steeply; as a speed, the first is level, and the second falls. Raises ValueError without curves.
    """
    if not any(latencies.values()):
        raise ValueError("there is nothing to draw: no model has a length that was measured")
    colours = categorical(len(latencies), dark)
    traces = [
        _by_length_of_model(of_model, measure, token_text(names[model], 32), colours[place], symbol(place))
        for place, (model, of_model) in enumerate(latencies.items())
    ]
    every = [latency for of_model in latencies.values() for latency in of_model]
    lengths = sorted({latency.n_tokens for latency in every})
    if measure == "latency":  # a guide from the last point of the slowest model down
        top = 1000 * max(latency.median for latency in every if latency.n_tokens == lengths[-1])
        ends, times = [lengths[0], lengths[-1]], [top * lengths[0] / lengths[-1], top]
        traces.append(line("twice the tokens, twice the time", ends, times, theme(dark).muted, width=1, dash="dot"))
    # 1, 2, 5, 10 ... over all magnitudes a computer has; Plotly's own ticks on such an axis lack their zeros.
    ticks = [digit * 10.0**power for power in range(-3, 8) for digit in (1, 2, 5)]
    return make_figure(
        traces,
        dark,
        height=420,
        margin=(8, 16, 16, 8),
        xaxis=log_axis(dark, "tokens in the text", lengths, [str(length) for length in lengths]),
        yaxis=log_axis(dark, _COSTS[measure][0], ticks, [f"{tick:,g}" for tick in ticks]),
        legend={"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"},
    )


def _by_length_of_model(
    latencies: Sequence[Latency], measure: Measure, name: str, colour: str, marked: str
) -> dict[str, Any]:
    if measure == "latency":
        costs = [(1000 * latency.median, 1000 * latency.low, 1000 * latency.high) for latency in latencies]
    else:
        counts = [latency.n_tokens if measure == "tokens" else latency.n_words for latency in latencies]
        costs = [(n / of.median, n / of.high, n / of.low) for n, of in zip(counts, latencies, strict=True)]
    medians, lows, highs = zip(*costs, strict=True)
    return line(
        name,
        [latency.n_tokens for latency in latencies],
        medians,
        colour,
        marked=marked,
        size=9,
        error_y=error_bars(medians, lows, highs, colour),
        customdata=[
            [low, high, latency.n, latency.n_words] for latency, low, high in zip(latencies, lows, highs, strict=True)
        ],
        hover=f"%{{x}} tokens, %{{customdata[3]}} words<br><b>%{{y:,.4~g}} {_COSTS[measure][1]}</b>"
        "<br>middle half %{customdata[0]:,.4~g} to %{customdata[1]:,.4~g}<br>%{customdata[2]} passes"
        f"<extra>{name}</extra>",
    )
