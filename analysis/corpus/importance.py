"""Whether heads matter: what is lost in many sentences when they are off, and how well gradients predict it.

Items are words of sentences, pairs of sentences or labelled texts; what belongs together (the words of a sentence, the
pairs of a template) is one cluster, and intervals count clusters, not items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.intervals import around, cluster_spread, interval, left_out
from analysis.ranks import spearman
from model_zoo.types import DoubleArray, FloatArray, IntArray, Shows

Head = tuple[int, int]

MOST_OTHERS: Final = 10
"""Random heads of its layer that a head is compared with, at most."""

MOST_POINTS: Final = 13
"""Numbers of heads at which a pruning curve is measured, at most."""

_SEED: Final = 35


@dataclass(frozen=True, slots=True)
class Mean(Shows):
    """A mean over items with its 95% interval over ``n_clusters`` clusters; nan for an interval from one alone."""

    value: float
    low: float
    high: float
    n: int
    n_clusters: int


def mean_of(values: npt.ArrayLike, clusters: npt.ArrayLike) -> Mean:
    """The mean of the values (items,) that are not nan: Student's t on the jackknife over clusters (items,)."""
    return _mean(values, clusters, lambda value, spreads, _: around(value, spreads))


def share_of(right: npt.ArrayLike, clusters: npt.ArrayLike) -> Mean:
    """The share of right items: as ``mean_of``, with an interval that stays between 0 and 1."""
    return _mean(right, clusters, interval)


def _mean(values: npt.ArrayLike, clusters: npt.ArrayLike, bounds: Callable[..., tuple[float, float]]) -> Mean:
    numbers, cluster = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    known = ~np.isnan(numbers)
    numbers, cluster = numbers[known], cluster[known]
    if not len(numbers):
        return Mean(np.nan, np.nan, np.nan, 0, 0)
    value, spread = float(numbers.mean()), cluster_spread(numbers, cluster)
    low, high = bounds(value, [spread], spread.n) if spread.n > 1 else (np.nan, np.nan)
    return Mean(value, low, high, len(numbers), spread.n)


@dataclass(frozen=True, slots=True)
class Effect(Shows):
    """With ``heads`` off: the mean ``change`` of the score in nats, and the share of items answered rightly."""

    heads: tuple[Head, ...] = field(repr=False)
    change: Mean
    right: Mean

    def to_frame(self) -> pd.DataFrame:
        """One row: layer and head of the heads that are off (of several the first, and "all"), how the score changes
        (nats, low to high), the share that is right then (right_low to right_high), and the number of items.
        """
        layer, head = self.heads[0]
        return pd.DataFrame(
            [
                {
                    "layer": layer,
                    "head": "all" if len(self.heads) > 1 else head,
                    "change": self.change.value,
                    "low": self.change.low,
                    "high": self.change.high,
                    "right": self.right.value,
                    "right_low": self.right.low,
                    "right_high": self.right.high,
                    "items": self.change.n,
                }
            ]
        )


def effects(
    scores: FloatArray, right: FloatArray, clusters: npt.ArrayLike, sets: Sequence[tuple[Head, ...]]
) -> tuple[Effect, ...]:
    """Of each set, given the scores and what is right (1 + sets, items), first with nothing off."""
    return tuple(
        Effect(heads, mean_of(scores[row] - scores[0], clusters), share_of(right[row], clusters))
        for row, heads in enumerate(sets, start=1)
    )


@dataclass(frozen=True, slots=True)
class HeadComparison(Shows):
    """One head off, beside ``others`` of its layer, each off by itself, and beside all heads of its layer together.

    ``score`` is the mean with nothing off (ln P in nats), ``right`` the share of items that are answered rightly then.
    ``others`` are a random choice, or where a layer has few heads ``all_others``.
    """

    score: Mean
    right: Mean
    head: Effect
    others: tuple[Effect, ...] = field(repr=False)
    layer: Effect
    all_others: bool

    @property
    def n_as_much(self) -> int:
        """How many of the others change the score at least as much, in the same direction."""
        mine = self.head.change.value
        return sum(abs(effect.change.value) >= abs(mine) and effect.change.value * mine > 0 for effect in self.others)

    def to_frame(self) -> pd.DataFrame:
        """One row a set of heads, as ``Effect.to_frame``: the head itself, the others, and all of its layer."""
        table = pd.concat([effect.to_frame() for effect in (self.head, *self.others, self.layer)], ignore_index=True)
        table["head"] = [*table["head"].iloc[:-1], "all"]  # a layer may have one head
        return table

    @property
    def clear(self) -> bool:
        """Whether the interval of the head's change leaves out 0."""
        change = self.head.change
        return change.low > 0 or change.high < 0


def compared_sets(head: Head, n_heads: int) -> tuple[tuple[Head, ...], ...]:
    """A head by itself, ``MOST_OTHERS`` random others of its layer or all there are, and all of the layer."""
    layer, mine = head
    others = [number for number in range(n_heads) if number != mine]
    if len(others) > MOST_OTHERS:
        others = sorted(np.random.default_rng((_SEED, *head)).choice(others, MOST_OTHERS, replace=False).tolist())
    all_heads = tuple((layer, number) for number in range(n_heads))
    return (head,), *(((layer, number),) for number in others), all_heads


def compare_head(
    scores: FloatArray, right: FloatArray, clusters: npt.ArrayLike, sets: Sequence[tuple[Head, ...]]
) -> HeadComparison:
    """The comparison that ``compared_sets`` asks for, given scores and what is right (1 + sets, items)."""
    head, *others, layer = effects(scores, right, clusters, sets)
    return HeadComparison(
        score=mean_of(scores[0], clusters),
        right=share_of(right[0], clusters),
        head=head,
        others=tuple(others),
        layer=layer,
        all_others=len(others) == len(layer.heads) - 1,
    )


@dataclass(frozen=True, slots=True)
class GradientEstimate(Shows):
    """What gradients say of every head beside what happens when it is off: means in nats, layer by layer.

    ``importance`` is the mean over items of |∂ score / ∂ gate| (Michel et al. 2019), ``estimate`` minus the mean of
    ∂ score / ∂ gate: the change that is expected to first order. ``change`` is the mean change with the head off.
    ``by_importance`` is Spearman's correlation of the importance with the loss (minus the change), ``by_estimate`` of
    estimate and change: each with its interval over clusters.
    """

    importance: tuple[Mean, ...] = field(repr=False)
    estimate: tuple[Mean, ...] = field(repr=False)
    change: tuple[Mean, ...] = field(repr=False)
    by_importance: Mean
    by_estimate: Mean

    def to_frame(self) -> pd.DataFrame:
        """One row a head, by its place among all: importance, estimate and change, each with its low and high."""
        return pd.DataFrame(
            {
                "place": range(len(self.change)),
                **{
                    f"{name}{end}": [getattr(mean, part) for mean in getattr(self, name)]
                    for name in ("importance", "estimate", "change")
                    for part, end in (("value", ""), ("low", "_low"), ("high", "_high"))
                },
            }
        )


def gradient_estimates(gradients: FloatArray, scores: FloatArray, clusters: npt.ArrayLike) -> GradientEstimate:
    """From the gradients (items, layers, heads) and the scores (1 + layers · heads, items) of the same items: first
    with nothing off, then with each head off by itself, layer by layer.

    Estimated is what happens to the score, in its units (nats of a log-probability), when a head's gate goes from 1 to
    0: minus the gradient at the gate, to first order (Molchanov et al. 2019); the importance of a head is the mean size
    of that gradient (Michel et al. 2019). Items with nan anywhere are left out. Intervals resample clusters of items.
    """
    known = ~(np.isnan(scores).any(axis=0) | np.isnan(gradients).any(axis=(1, 2)))
    cluster = np.asarray(clusters)[known]
    flat = gradients[known].reshape(known.sum(), -1).astype(np.float64)
    change = (scores[1:] - scores[0]).T[known].astype(np.float64)

    def correlation(first: DoubleArray, second: DoubleArray) -> Mean:
        """Of the means over items of two arrays (items, heads)."""
        numbers, place = np.unique(cluster, return_inverse=True)
        value, n = float(spearman(first.mean(axis=0), second.mean(axis=0))), len(numbers)
        if n < 2 or np.isnan(value):
            return Mean(value, np.nan, np.nan, len(first), n)
        rest = [
            spearman(first[kept].mean(axis=0), second[kept].mean(axis=0)) for kept in (place != np.arange(n)[:, None])
        ]
        low, high = interval(value, [left_out(rest)], n, lowest=-1.0)
        return Mean(value, low, high, len(first), n)

    def means(values: DoubleArray) -> tuple[Mean, ...]:
        return tuple(mean_of(column, cluster) for column in values.T)

    return GradientEstimate(
        importance=means(np.abs(flat)),
        estimate=means(-flat),
        change=means(change),
        by_importance=correlation(np.abs(flat), -change),
        by_estimate=correlation(-flat, change),
    )


def points(n_heads: int) -> IntArray:
    """Numbers of heads that are off at which a curve is measured: none, all, and steps of one length between."""
    step = -(-n_heads // (MOST_POINTS - 1))
    return np.unique(np.append(np.arange(0, n_heads, step), n_heads)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Curve(Shows):
    """A score over the number of heads that are off, ``counts`` (points,); a curve that was stopped ends early.

    ``scores`` has a mean for each point; of several orders their mean, with ``low`` and ``high`` of the orders.
    """

    name: str
    counts: tuple[int, ...] = field(repr=False)
    scores: tuple[Mean, ...] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row a point: order (the curve's name), heads_off, score, low, high."""
        return pd.DataFrame(
            [
                {"order": self.name, "heads_off": n, "score": mean.value, "low": mean.low, "high": mean.high}
                for n, mean in zip(self.counts, self.scores, strict=True)
            ]
        )


def together(name: str, curves: Sequence[Curve]) -> Curve:
    """Several curves as one: at each point their mean and range, not an interval, for as far as all of them go."""
    n = min(len(curve.counts) for curve in curves)
    scores = []
    for place in range(n):
        values = [curve.scores[place].value for curve in curves]
        first = curves[0].scores[place]
        scores.append(Mean(float(np.mean(values)), min(values), max(values), first.n, first.n_clusters))
    return Curve(name, curves[0].counts[:n], tuple(scores))
