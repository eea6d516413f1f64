"""Means over queries, cases or edges with 95% intervals over sentences or frames, from sums that add up.

A score is a ratio of two sums over sentences, Σs / Σn. Its variance is the linearized one (infinitesimal jackknife,
Jaeckel 1972): the sentences' own s - r n, squared. Five sums are all it takes, so that parts of a corpus can be
measured anywhere and added. Sentences of one frame are much alike and count as one unit: until all of a frame's parts
are there, its own two sums are kept beside the five.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.intervals import LEVEL, share_intervals
from model_zoo.types import DoubleArray, IntArray

_SUMS = ("s", "ss", "sn", "n", "nn", "texts")


@dataclass(frozen=True, slots=True)
class Moments:
    """Σs, Σs², Σsn (..., scores); Σn, Σn² and the number of units with n > 0, of a shape that broadcasts to it.

    ``frames`` are s and n of the frames that are not among the five sums yet, by their numbers.
    """

    s: DoubleArray = field(repr=False)
    ss: DoubleArray = field(repr=False)
    sn: DoubleArray = field(repr=False)
    n: DoubleArray = field(repr=False)
    nn: DoubleArray = field(repr=False)
    texts: DoubleArray = field(repr=False)
    frames: Mapping[int, tuple[DoubleArray, DoubleArray]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_sums(cls, sums: DoubleArray, counts: DoubleArray, frames: IntArray | None = None) -> Moments:
        """Those of some sentences: ``sums`` (texts, ...) and ``counts`` (texts, ...), which broadcasts to them. With
        the numbers of their ``frames`` (texts,), these are the units.
        """
        counts = counts.astype(np.float64)
        if frames is not None:
            numbers, place = np.unique(frames, return_inverse=True)
            members = (place == np.arange(len(numbers))[:, None]).astype(np.float64)  # (frames, texts)
            of_frames = zip(np.tensordot(members, sums, 1), np.tensordot(members, counts, 1), strict=True)
            by_frame = dict(zip(numbers.tolist(), of_frames, strict=True))
            return replace(cls.from_sums(sums[:0], counts[:0]), frames=by_frame)
        return cls(
            sums.sum(axis=0),
            (sums**2).sum(axis=0),
            (sums * counts).sum(axis=0),
            counts.sum(axis=0),
            (counts**2).sum(axis=0),
            (counts > 0).sum(axis=0).astype(np.float64),
        )

    def __add__(self, other: Moments) -> Moments:
        frames = dict(self.frames)
        for number, (s, n) in other.frames.items():
            frames[number] = (frames[number][0] + s, frames[number][1] + n) if number in frames else (s, n)
        return Moments(**{name: getattr(self, name) + getattr(other, name) for name in _SUMS}, frames=frames)

    def column(self, place: int) -> Moments:
        """One score of all."""
        frames = {number: (s[..., place], n[..., place]) for number, (s, n) in self.frames.items()}
        return Moments(**{name: getattr(self, name)[..., place] for name in _SUMS}, frames=frames)

    def closed(self) -> Moments:
        """The same when no more parts are to come: frames are among the sums."""
        if not self.frames:
            return self
        s, n = (np.array(sums) for sums in zip(*self.frames.values(), strict=True))
        return replace(self, frames={}) + Moments.from_sums(s, n)

    @property
    def means(self) -> DoubleArray:
        """Σs / Σn; nan where nothing was counted."""
        closed = self.closed()
        n = np.broadcast_to(closed.n, closed.s.shape)
        return np.divide(closed.s, n, out=np.full(closed.s.shape, np.nan), where=n > 0)

    @property
    def variances(self) -> DoubleArray:
        """The squared standard error of each mean over units; nan for fewer than two of them."""
        closed = self.closed()
        mean = closed.means
        rest = np.maximum(closed.ss - 2 * mean * closed.sn + mean**2 * closed.nn, 0)
        texts = np.broadcast_to(closed.texts, closed.s.shape)
        factor = np.divide(texts, texts - 1, out=np.full(closed.s.shape, np.nan), where=texts > 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(factor * rest / closed.n**2)

    def intervals(self, *, shares: bool) -> tuple[DoubleArray, DoubleArray]:
        """The ends of the 95% intervals: of ``shares`` by log-odds, within 0 and 1; of other numbers by Student's t."""
        closed = self.closed()
        mean, variance = closed.means, closed.variances
        texts = np.broadcast_to(closed.texts, mean.shape)
        if shares:
            return share_intervals(mean, variance, texts)
        from scipy.stats import t

        with np.errstate(invalid="ignore"):
            reach = t.ppf((1 + LEVEL) / 2, texts - 1) * np.sqrt(variance)
        return mean - reach, mean + reach
