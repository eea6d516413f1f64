"""Which explanation holds: words are hidden in the order in which a method ranks them, and the answer is watched.

Deletion and insertion after Samek et al. 2017 and Petsiuk et al. 2018; agreement by Kendall's tau as in Jain & Wallace
2019.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from analysis.words import Unit
from model_zoo.types import Attribution, Effects, FloatArray

Array = npt.NDArray[np.float64]
Way = Literal["deletion", "insertion"]

_RESAMPLES: Final = 2000
_SEED: Final = 20


def by_word(attribution: Attribution, units: Sequence[Unit]) -> Array:
    """A number a word, (words,): the sum over its tokens."""
    scores: FloatArray = attribution.scores
    return np.array([float(scores[unit.start : unit.stop].sum()) for unit in units])


def occlusion(effects: Effects) -> Array:
    """What is lost of ln P of the answer when each word is hidden by itself, (words,): Zeiler & Fergus 2014."""
    before = effects.untouched.log_probability
    return np.array([before - reading.log_probability for reading in effects.readings])


def order(scores: Sequence[float] | Array) -> tuple[int, ...]:
    """The places of words, the highest score first; of equal ones the earlier first."""
    return tuple(int(place) for place in np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable"))


def steps(ranked: Sequence[int], way: Way) -> list[tuple[int, ...]]:
    """Which words are hidden at each step, from none to all; of insertion from all to none, the highest shown first."""
    n = len(ranked)
    if way == "deletion":
        return [tuple(sorted(ranked[:k])) for k in range(n + 1)]
    return [tuple(sorted(ranked[k:])) for k in range(n + 1)]


def curve(ranked: Sequence[int], way: Way, probabilities: Mapping[tuple[int, ...], float]) -> Array:
    """P of the answer at each step as a share of that of the whole text, (words + 1,). ``probabilities`` are by the
    words that are hidden.
    """
    whole = probabilities[()]
    found: Array = np.array([probabilities[hidden] / whole for hidden in steps(ranked, way)])
    return found


def area(values: Array) -> float:
    """The area under a curve over the share of words, by the trapezoidal rule: its mean height. Of deletion a low one
    is good, of insertion a high one.
    """
    return float(np.trapezoid(values, dx=1 / (len(values) - 1))) if len(values) > 1 else float(values[0])


def needed(orders: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Every set of hidden words that some order needs for both ways, each once."""
    every = {hidden for ranked in orders for way in _WAYS for hidden in steps(ranked, way)}
    return sorted(every, key=lambda hidden: (len(hidden), hidden))


_WAYS: Final[tuple[Way, Way]] = ("deletion", "insertion")


def random_orders(n_words: int, n: int, seed: int = _SEED) -> list[tuple[int, ...]]:
    """Orders drawn at random, always the same ones: what a ranking has to beat."""
    rng = np.random.default_rng(seed)
    return [tuple(int(place) for place in rng.permutation(n_words)) for _ in range(n)]


def kendall(scores: Sequence[Array]) -> Array:
    """Kendall's τ_b between every two rankings (rankings, rankings); nan where one of them ranks nothing."""
    from scipy.stats import kendalltau  # slow to import, and most views do without

    n = len(scores)
    found = np.eye(n)
    for i in range(n):
        for j in range(i):
            found[i, j] = found[j, i] = kendalltau(scores[i], scores[j]).statistic
    return found


@dataclass(frozen=True, slots=True)
class Area:
    """A method's mean area over some sentences, with the 95% interval of that mean (percentiles of a bootstrap over
    sentences).
    """

    method: str
    way: Way
    mean: float
    low: float
    high: float
    n: int


def mean_area(method: str, way: Way, areas: Sequence[float]) -> Area:
    """Raises ValueError where there is no sentence."""
    if not areas:
        raise ValueError("there is no area to take the mean of")
    values = np.array(areas)
    rng = np.random.default_rng(_SEED)
    means = values[rng.integers(0, len(values), (_RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return Area(method, way, float(values.mean()), float(low), float(high), len(values))
