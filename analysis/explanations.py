"""Which explanation holds: words are hidden in the order in which a method ranks them, and the answer is watched.

Deletion and insertion after Samek et al. 2017 and Petsiuk et al. 2018; agreement by Kendall's tau as in Jain & Wallace
2019. What a method has to beat is the order of words by their nearness to the place where the answer is read, which
knows nothing of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from analysis.words import Unit
from model_zoo.types import Attribution, DoubleArray, FloatArray, format_interval

Way = Literal["deletion", "insertion"]

_RESAMPLES: Final = 2000
_SEED: Final = 20


def by_word(attribution: Attribution, units: Sequence[Unit]) -> DoubleArray:
    """One number a word, (words,): the sum over its tokens."""
    scores: FloatArray = attribution.scores
    return np.array([float(scores[unit.start : unit.stop].sum()) for unit in units])


def ranked_words(units: Sequence[Unit]) -> tuple[int, ...]:
    """The places of the units that are words: a punctuation mark by itself is not a word and is never hidden."""
    return tuple(place for place, unit in enumerate(units) if any(map(str.isalnum, unit.label)))


def nearness(words: Sequence[Unit], position: int) -> DoubleArray:
    """Minus the distance in words from the token at ``position``, in none of them, (words,): −1 next to it."""
    n_before = sum(word.stop <= position for word in words)
    places = np.arange(len(words), dtype=np.float64)
    nearness_of: DoubleArray = -np.abs(places - n_before + (places >= n_before))
    return nearness_of


def order(scores: Sequence[float] | DoubleArray) -> tuple[int, ...]:
    """The places of words, the highest score first; of equal scores the earlier word first."""
    return tuple(int(place) for place in np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable"))


def steps(ranked: Sequence[int], way: Way) -> list[tuple[int, ...]]:
    """The hidden words at each step, from none to all; for insertion from all to none, the highest shown first."""
    n = len(ranked)
    if way == "deletion":
        return [tuple(sorted(ranked[:k])) for k in range(n + 1)]
    return [tuple(sorted(ranked[k:])) for k in range(n + 1)]


def curve(ranked: Sequence[int], way: Way, probabilities: Mapping[tuple[int, ...], float]) -> DoubleArray:
    """P of the target at each step as a share of that of the whole text, (words + 1,), from P by hidden words."""
    unhidden = probabilities[()]
    shares: DoubleArray = np.array([probabilities[hidden] / unhidden for hidden in steps(ranked, way)])
    return shares


def area(values: DoubleArray) -> float:
    """The area under a curve over the share of words, by the trapezoidal rule: its mean height. A low area is good for
    deletion, a high one for insertion.
    """
    return float(np.trapezoid(values, dx=1 / (len(values) - 1))) if len(values) > 1 else float(values[0])


def needed(orders: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Every set of hidden words that some order needs for deletion or insertion, without repetition."""
    every = {hidden for ranked in orders for way in _WAYS for hidden in steps(ranked, way)}
    return sorted(every, key=lambda hidden: (len(hidden), hidden))


_WAYS: Final[tuple[Way, Way]] = ("deletion", "insertion")
_BETTER: Final[dict[Way, int]] = {"deletion": -1, "insertion": 1}  # the sign of a difference that is good


def random_orders(n_words: int, n: int, seed: int = _SEED) -> list[tuple[int, ...]]:
    """Orders drawn at random, always the same ones: a ranking has to beat them."""
    rng = np.random.default_rng(seed)
    return [tuple(int(place) for place in rng.permutation(n_words)) for _ in range(n)]


def kendall(scores: Sequence[DoubleArray]) -> DoubleArray:
    """Kendall's τ_b between every two rankings (rankings, rankings); nan where one of them ranks nothing."""
    from scipy.stats import kendalltau  # slow to import, and most views do without

    n = len(scores)
    correlations = np.eye(n)
    for i in range(n):
        for j in range(i):
            correlations[i, j] = correlations[j, i] = kendalltau(scores[i], scores[j]).statistic
    return correlations


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over sentences, with its 95% interval (percentiles of a bootstrap over sentences)."""

    value: float
    low: float
    high: float

    def __format__(self, how: str) -> str:
        """ "0.15 (0.13 to 0.17)", each number written as ``how`` says."""
        return format_interval(self.value, self.low, self.high, how)


@dataclass(frozen=True, slots=True)
class Area:
    """A method's area over ``n`` sentences: mean, median, and the share of sentences in which it exceeds 1, where the
    target is more probable with words hidden; by how much it is ``above`` the baseline's in the mean, sentence by
    sentence, and the share of sentences in which it is ``better``, equal ones counted as half: both None where there is
    no baseline, or it is this one.
    """

    method: str
    way: Way
    mean: Mean
    median: float
    exceeds_one: float
    above: Mean | None
    better: Mean | None
    n: int


def mean(values: Sequence[float] | DoubleArray) -> Mean:
    """Raises ValueError where there is no value."""
    if not len(values):
        raise ValueError("there is no value to take the mean of")
    samples = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(_SEED)
    means = samples[rng.integers(0, len(samples), (_RESAMPLES, len(samples)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return Mean(float(samples.mean()), float(low), float(high))


def areas(texts: Sequence[Mapping[tuple[str, Way], float]], baseline: str) -> list[Area]:
    """Compares the areas of every method in some sentences, each sentence's by method and way, with the ``baseline``'s
    in the same sentences. Both ways of a method follow each other, the best method by deletion first.
    """
    table = []
    for method, way in dict.fromkeys(key for of_text in texts for key in of_text):
        values = [of_text[method, way] for of_text in texts if (method, way) in of_text]
        beside = np.array(
            [
                of_text[method, way] - of_text[baseline, way]
                for of_text in texts
                if {(method, way), (baseline, way)} <= {*of_text}
            ]
        )
        above = better = None
        if len(beside) and method != baseline:
            above, better = mean(beside), mean((1 + np.sign(beside) * _BETTER[way]) / 2)
        exceeds_one = float(np.mean(np.array(values) > 1))
        table.append(Area(method, way, mean(values), float(np.median(values)), exceeds_one, above, better, len(values)))
    best = {area.method: area.mean.value for area in table if area.way == "deletion"}
    return sorted(table, key=lambda area: (best[area.method], area.method, area.way))
