"""Figures of bars, each beside its name: answers of a model, what changes them, and what they are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from analysis.erasure import Erasure
from model_zoo.types import MaskPrediction, Shift, signed
from viz.direction import isolated
from viz.layout import axis, head_names, headline, make_figure, percent, rows, token_text
from viz.marks import CLICKED_AS_BEFORE, LEGEND_ABOVE, horizontal_bars, points
from viz.palette import by_sign, categorical, theme

_LONGEST_LABEL: Final = 30


def _bar_figure(
    traces: Iterable[dict[str, Any]],
    names: Sequence[str],
    dark: bool,
    *,
    height: int,
    margin: tuple[int, int, int, int],
    **settings: Any,
) -> go.Figure:
    """Horizontal bars in rows with their ``names``, which are safe text, from top to bottom at the left."""
    return make_figure(traces, dark, height=height, margin=margin, yaxis=rows(names, dark), bargap=0.25, **settings)


def bars(
    names: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    top: float | None = None,
    written: str = ".2f",
    marked: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """A bar a name and number, from 0 to ``top`` (default: the largest number), names as given from top to bottom.

    ``series`` are one or more (what the numbers are, a number a name, none below 0); a legend tells two or more apart.
    ``written`` is the format of the numbers beside the bars. ``marked`` is the place of a name to stand out where there
    is one series. Raises ValueError where numbers do not fit the names.
    """
    if not series or any(len(values) != len(names) for _, values in series):
        raise ValueError(f"the numbers do not fit {len(names)} names")
    highest = top or max(max(values, default=0.0) for _, values in series) or 1.0
    palette = categorical(max(2, len(series)), dark)
    several = len(series) > 1
    traces = []
    for (quantity, values), colour in zip(series, palette, strict=False):
        inks = [palette[1] if place == marked else colour for place in range(len(names))]
        hover = [
            f"{token_text(name)}<br>{token_text(quantity)}: <b>{value:.6g}</b>"
            for name, value in zip(names, values, strict=True)
        ]
        texts = [format(value, written) for value in values]
        traces.append(horizontal_bars(values, inks, hover, dark=dark, texts=texts, name=quantity))
    title = "" if several else token_text(series[0][0])
    return _bar_figure(
        traces,
        [token_text(name, _LONGEST_LABEL) for name in names],
        dark,
        height=(26 + 14 * (len(series) - 1)) * len(names) + 68,
        margin=(8, 60, 28, 30 if several else 40),
        xaxis=axis(dark, title, range=[0, highest * 1.02], showticklabels=False),
        legend=LEGEND_ABOVE if several else None,
    )


def predictions(
    answer: MaskPrediction, title: str = "", *, dark: bool = False, highest: float | None = None
) -> go.Figure:
    """Probabilities of the best tokens, best on top; the original in its own colour, below the others and with its rank
    where it is not among them. ``title`` says whose answer it is. Bars end at the ``highest`` probability, that of the
    answer if none is given.

    Trace 0; ``customdata`` holds the ids, so that a click can say which token was meant.
    """
    plain, special = categorical(2, dark)
    entries = [(entry, rank) for rank, entry in enumerate(answer.best, start=1)]
    if answer.original is not None and answer.rank is not None and answer.rank > len(answer.best):
        entries.append((answer.original, answer.rank))
    original = None if answer.original is None else answer.original.id
    highest = highest or max(entry.probability for entry, _ in entries)
    trace = horizontal_bars(
        [entry.probability for entry, _ in entries],
        [special if entry.id == original else plain for entry, _ in entries],
        [f"{token_text(entry.token)}: {entry.probability:.6f}, rank {rank:,}" for entry, rank in entries],
        dark=dark,
        texts=[
            percent(entry.probability) + (f", rank {rank:,}" if rank > len(answer.best) else "")
            for entry, rank in entries
        ],
        customdata=[entry.id for entry, _ in entries],
        **CLICKED_AS_BEFORE,
    )
    return _bar_figure(
        [trace],
        [token_text(entry.token, 18) for entry, _ in entries],
        dark,
        title=headline(title, dark),
        clickmode="event+select",
        height=25 * len(entries) + 48,
        margin=(8, 60, 28, 20),
        xaxis=axis(dark, range=[0, highest * 1.02 or 1], showticklabels=False),
    )


def ranking(
    heads: Sequence[tuple[int, int]],
    shares: Sequence[float],
    even: Sequence[float],
    quantity: str,
    *,
    dark: bool = False,
) -> go.Figure:
    """Shares from 0 to 1 of heads (layer, head), both from 0, in the order given, largest bar as long as the picture.

    A line stands in each bar at what an ``even`` spread gives. ``quantity`` names the number below the bars; it is put
    in as it is (``layout.token_text`` makes a token safe). Trace 0; ``customdata`` holds the heads, so that a click can
    say which was meant.
    """
    names = head_names(heads)
    trace = horizontal_bars(
        shares,
        categorical(1, dark)[0],
        [
            f"{name}: <b>{share:.3f}</b><br>uniform attention: {spread:.3f}"
            for name, share, spread in zip(names, shares, even, strict=True)
        ],
        dark=dark,
        texts=[percent(share) for share in shares],
        customdata=list(heads),
        **CLICKED_AS_BEFORE,
    )
    marker = {"symbol": "line-ns-open", "size": 16, "color": theme(dark).text, "line": {"width": 2}}
    spreads = points(list(even), list(range(len(even))), marker, None)
    longest = max(*shares, *even) * 1.02 or 1
    return _bar_figure(
        [trace, spreads],
        names,
        dark,
        clickmode="event+select",
        height=24 * len(heads) + 56,
        margin=(8, 56, 8, 48),
        xaxis=axis(dark, f"{quantity}<br>line: uniform attention", range=[0, longest], showticklabels=False),
    )


def label_bars(labels: Sequence[str], shares: Sequence[float], *, dark: bool = False) -> go.Figure:
    """The probability of each label, the most probable on top and in its own colour.

    Raises ValueError where there is not one share for each label.
    """
    if len(labels) != len(shares):
        raise ValueError(f"{len(shares)} probabilities for {len(labels)} labels")
    plain, chosen = categorical(2, dark)
    order = sorted(range(len(labels)), key=lambda place: (-shares[place], place))
    trace = horizontal_bars(
        [shares[place] for place in order],
        [chosen, *[plain] * (len(order) - 1)],
        [f"{token_text(labels[place])}: {shares[place]:.6f}" for place in order],
        dark=dark,
        texts=[percent(shares[place]) for place in order],
    )
    return _bar_figure(
        [trace],
        [token_text(labels[place], 24) for place in order],
        dark,
        height=30 * len(order) + 40,
        margin=(8, 60, 28, 8),
        xaxis=axis(dark, range=[0, 1], showticklabels=False),
    )


def shifts(moved: Sequence[Shift], title: str = "", *, reach: float = 0.0, dark: bool = False) -> go.Figure:
    """ln P after a word was replaced less ln P before: bars to the right became more likely, to the left less likely;
    probabilities before and after when pointed at. ``title`` says of which mask, ``reach`` how far the axis goes at
    least, so that neighbours can share it.
    """
    reach = max(reach, *(abs(shift.difference) for shift in moved), 0.0) or 1.0
    trace = horizontal_bars(
        [shift.difference for shift in moved],
        by_sign((shift.difference for shift in moved), dark),
        [f"{token_text(shift.token)}: {math.exp(shift.before):.3g} → {math.exp(shift.after):.3g}" for shift in moved],
        dark=dark,
        texts=[signed(shift.difference, plus=True) for shift in moved],
    )
    return _bar_figure(
        [trace],
        [token_text(shift.token, 18) for shift in moved],
        dark,
        title=headline(title, dark),
        height=25 * len(moved) + 80,
        margin=(8, 16, 28, 44),
        xaxis=axis(dark, "← less likely · ln P · more likely →", zero=True, range=[-1.25 * reach, 1.25 * reach]),
    )


def erasure_bars(effects: Sequence[Erasure], title: str = "", *, dark: bool = False) -> go.Figure:
    """A bar a word, in the order given: how many bits of log2 P are lost (right) or won (left) without it. Its name
    says the probability before and after.
    """
    bits = [effect.bits for effect in effects]
    names = [
        f"without “{isolated(token_text(effect.word.label, 14))}”: {percent(effect.before)} → {percent(effect.after)}"
        for effect in effects
    ]
    hover = [
        f"{name}, {signed(effect.bits, plus=True)} bits; the prediction: {token_text(effect.guess.token)}"
        for name, effect in zip(names, effects, strict=True)
    ]
    return _bar_figure(
        [horizontal_bars(bits, by_sign(bits, dark), hover, dark=dark)],
        names,
        dark,
        title=headline(title, dark),
        height=25 * len(effects) + 76,
        margin=(8, 16, 28, 44),
        xaxis=axis(dark, "← opposes · bits lost · supports →", zero=True, range=_range_with_zero(bits, 0.05)),
    )


def waterfall(
    parts: Sequence[tuple[str, float, str]], total: str, *, quantity: str = "logit", dark: bool = False
) -> go.Figure:
    """A sum: a bar a part, from top to bottom, each beginning where the one before it ended: its name, what it adds,
    and what is said of it when it is pointed at. ``total`` names their sum, the last bar. Trace 0; ``customdata`` is
    the place of a part. Raises ValueError where there are no parts.
    """
    if not parts:
        raise ValueError("there are no parts to add up")
    starts, at = [], 0.0
    for _, value, _ in parts:
        starts.append(at)
        at += value
    ends = [start + value for start, (_, value, _) in zip(starts, parts, strict=True)]
    names = [*(name for name, _, _ in parts), total]
    values = [*(value for _, value, _ in parts), at]
    hover = [
        f"{token_text(name)}: <b>{signed(value, plus=True)}</b>" + (f"<br>{token_text(note)}" if note else "")
        for name, value, note in parts
    ]
    trace = horizontal_bars(
        values,
        [*by_sign(values[:-1], dark), *categorical(1, dark)],
        [*hover, f"{token_text(total)}: <b>{signed(at, 4)}</b>"],
        dark=dark,
        texts=[signed(value, plus=True) for value in values[:-1]] + [signed(at)],
        base=[*starts, 0.0],
        customdata=list(range(len(names))),
    )
    return _bar_figure(
        [trace],
        [token_text(name, 26) for name in names],
        dark,
        height=24 * len(names) + 60,
        margin=(8, 16, 8, 44),
        xaxis=axis(dark, token_text(quantity), zero=True, range=_range_with_zero(ends, 0.12)),
    )


def _range_with_zero(values: Sequence[float], room: float) -> list[float]:
    """An axis from the lowest to the highest number and 0, with a share of its length left free on either side."""
    low, high = min([0.0, *values]), max([0.0, *values])
    free = room * (high - low or 1.0)
    return [low - free, high + free]
