"""Means over queries, cases or edges with 95% intervals over sentences, from sums that add up.

A score is a ratio of two sums over sentences, Σs / Σn. Its variance is the linearized one (infinitesimal jackknife,
Jaeckel 1972): the sentences' own s - r n, squared. Five sums are all it takes, so that parts of a corpus can be
measured anywhere and added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from analysis.intervals import LEVEL, share_intervals
from model_zoo.types import DoubleArray


@dataclass(frozen=True, slots=True)
class Moments:
    """Σs, Σs², Σsn (..., scores); Σn, Σn² and the number of sentences with n > 0, of a shape that broadcasts to it."""

    s: DoubleArray = field(repr=False)
    ss: DoubleArray = field(repr=False)
    sn: DoubleArray = field(repr=False)
    n: DoubleArray = field(repr=False)
    nn: DoubleArray = field(repr=False)
    texts: DoubleArray = field(repr=False)

    @classmethod
    def of(cls, sums: DoubleArray, counts: DoubleArray) -> Moments:
        """Those of some sentences: ``sums`` (texts, ...) and ``counts`` (texts, ...), which broadcasts to them."""
        counts = counts.astype(np.float64)
        return cls(
            sums.sum(axis=0),
            (sums**2).sum(axis=0),
            (sums * counts).sum(axis=0),
            counts.sum(axis=0),
            (counts**2).sum(axis=0),
            (counts > 0).sum(axis=0).astype(np.float64),
        )

    def __add__(self, other: Moments) -> Moments:
        return Moments(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @classmethod
    def stacked(cls, parts: Sequence[Moments]) -> Moments:
        """One below the other, by their first axis."""
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))

    def spread(self, n: int) -> Moments:
        """The same with the counts (1, ...) repeated for ``n`` heads."""
        return replace(self, **{name: np.repeat(getattr(self, name), n, axis=0) for name in ("n", "nn", "texts")})

    def column(self, place: int) -> Moments:
        """One score of all."""
        return Moments(*(getattr(self, one.name)[..., place] for one in fields(self)))

    @property
    def means(self) -> DoubleArray:
        """Σs / Σn; nan where nothing was counted."""
        n = np.broadcast_to(self.n, self.s.shape)
        return np.divide(self.s, n, out=np.full(self.s.shape, np.nan), where=n > 0)

    @property
    def variances(self) -> DoubleArray:
        """The squared standard error of each mean over sentences; nan for fewer than two of them."""
        mean = self.means
        rest = np.maximum(self.ss - 2 * mean * self.sn + mean**2 * self.nn, 0)
        texts = np.broadcast_to(self.texts, self.s.shape)
        factor = np.divide(texts, texts - 1, out=np.full(self.s.shape, np.nan), where=texts > 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(factor * rest / self.n**2)

    def intervals(self, *, shares: bool) -> tuple[DoubleArray, DoubleArray]:
        """The ends of the 95% intervals: for ``shares`` by log-odds within 0 and 1 (``analysis.intervals``), for other
        numbers by Student's t.
        """
        mean, variance = self.means, self.variances
        texts = np.broadcast_to(self.texts, mean.shape)
        if shares:
            return share_intervals(mean, variance, texts)
        from scipy.stats import t

        with np.errstate(invalid="ignore"):
            reach = t.ppf((1 + LEVEL) / 2, texts - 1) * np.sqrt(variance)
        return mean - reach, mean + reach
