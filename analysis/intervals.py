"""95% intervals: of shares (Wilson), and of any score by how it changes with clusters of items, and seeds, left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model_zoo.types import DoubleArray

LEVEL = 0.95
_NORMAL = 1.959964  # of the normal distribution 95% are so many standard deviations or less from its mean
_AT_AN_END = 1e-9


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95% interval of a share of right ones among ``n`` that are independent of each other (Wilson 1927)."""
    z = _NORMAL
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True, slots=True)
class Spread:
    """A squared standard error, and how many independent parts (clusters of items, seeds) it was estimated from."""

    variance: float
    n: int


def left_out(scores: npt.ArrayLike) -> Spread:
    """Estimates a spread from scores with each part left out in turn (jackknife: Tukey 1958, Efron & Stein 1981)."""
    values = np.asarray(scores, dtype=np.float64)
    n = len(values)
    return Spread(float((n - 1) / n * ((values - values.mean()) ** 2).sum()), n)


def mean_spread(scores: npt.ArrayLike) -> Spread:
    """Estimates the spread of a mean from the scores of each part."""
    values = np.asarray(scores, dtype=np.float64)
    return Spread(float(values.var(ddof=1)) / len(values), len(values))


def cluster_spread(values: npt.ArrayLike, cluster: npt.ArrayLike) -> Spread:
    """Estimates the spread of the mean of values (items,): those of one ``cluster`` (items,) are left out together."""
    kept = np.asarray(values, dtype=np.float64)
    _, place, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    if len(sizes) < 2:  # nothing would be left
        return Spread(0.0, len(sizes))
    return left_out((kept.sum() - np.bincount(place, weights=kept)) / (len(kept) - sizes))


def of_right(correct: npt.ArrayLike, cluster: npt.ArrayLike) -> tuple[float, float]:
    """The 95% interval of the share of right items, by ``cluster_spread``."""
    spread = cluster_spread(correct, cluster)
    return interval(float(np.asarray(correct, dtype=np.float64).mean()), [spread], spread.n)


def interval(value: float, spreads: Sequence[Spread], n: int, *, lowest: float = 0.0) -> tuple[float, float]:
    """The 95% interval of a score between ``lowest`` (0, or -1 for correlations) and 1: Student's t on the log-odds of
    how far it is on its way, which never leaves the range and is wider towards its middle. For a correlation that is
    Fisher's z.

    The variances of several spreads add up (Satterthwaite 1946 for the degrees of freedom). Where the score is at an
    end nothing varies, and Wilson's interval for ``n`` independent items is taken. One part alone says nothing: the
    whole range.
    """
    share = (value - lowest) / (1 - lowest)
    if any(spread.n < 2 for spread in spreads):
        low, high = 0.0, 1.0
    elif not _AT_AN_END < share < 1 - _AT_AN_END:
        low, high = wilson(float(round(share)), n)
    else:
        reach = _reach(spreads) / (1 - lowest) / (share * (1 - share))
        middle = math.log(share / (1 - share))
        low, high = ((1 + math.tanh((middle + by) / 2)) / 2 for by in (-reach, reach))
    return lowest + low * (1 - lowest), lowest + high * (1 - lowest)


def around(value: float, spreads: Sequence[Spread]) -> tuple[float, float]:
    """The 95% interval of a score without bounds, whose errors are normal: Student's t; nan from one part alone."""
    if any(spread.n < 2 for spread in spreads):
        return math.nan, math.nan
    reach = _reach(spreads)
    return value - reach, value + reach


def share_intervals(
    values: npt.ArrayLike, variances: npt.ArrayLike, n: npt.ArrayLike
) -> tuple[DoubleArray, DoubleArray]:
    """``interval`` of many shares at once, each with one squared standard error over ``n`` parts; nan for nan."""
    from scipy.special import expit, logit
    from scipy.stats import t

    share, variance, parts = np.broadcast_arrays(
        *(np.asarray(numbers, dtype=np.float64) for numbers in (values, variances, n))
    )
    share = np.clip(share, 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = t.ppf((1 + LEVEL) / 2, parts - 1) * np.sqrt(variance) / (share * (1 - share))
        low, high = expit(logit(share) - reach), expit(logit(share) + reach)
    at_an_end = (share <= _AT_AN_END) | (share >= 1 - _AT_AN_END)
    for place in zip(*np.nonzero(at_an_end), strict=True):
        low[place], high[place] = wilson(float(round(share[place])), int(parts[place]))
    alone = (parts < 2) & np.isfinite(share)
    return np.where(alone, 0.0, low), np.where(alone, 1.0, high)


def _reach(spreads: Sequence[Spread]) -> float:
    """How far the ends are from a score whose errors are normal."""
    variance = sum(spread.variance for spread in spreads)
    if variance == 0:
        return 0.0
    freedom = variance**2 / sum(spread.variance**2 / (spread.n - 1) for spread in spreads)
    return _student(round(freedom, 9)) * math.sqrt(variance)


@lru_cache(maxsize=4096)
def _student(freedom: float) -> float:
    """Where Student's t ends; that of one number of sentences is asked for every measure of every head."""
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, freedom))
