"""Vectors of sentences and how alike they are: cosines, what all vectors share, and ranks against scored pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from analysis.intervals import interval, left_out
from analysis.probing.features import Pooling, classifier_place, pooled
from model_zoo.errors import InvalidInput
from model_zoo.types import DoubleArray, Encoding, FloatArray, HiddenStates, Shows

POOLINGS: tuple[Pooling, ...] = ("cls", "mean", "max")
_ROUNDING = 1e-5
"""What is left of a vector, as a share of its length, below which it is float32's rounding and nothing else."""


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """Texts as vectors: for each pooling float32 (layers + 1, texts, width), and the tokens of each text that were left
    out at the model's limit.
    """

    of: Mapping[Pooling, FloatArray] = field(repr=False)
    n_dropped: tuple[int, ...] = field(repr=False)


def summary_token(encoding: Encoding) -> str | None:
    """The token whose vector the pooling "cls" takes: [CLS] or what the model has in its stead. None where it has none
    (GPT-2, T5): it is the first of the text then.
    """
    place = classifier_place(encoding)
    return None if place is None else encoding.tokens[place]


def sentence_vectors(
    states: Iterable[tuple[int, HiddenStates]], n_texts: int, name: str = "Sentence {}"
) -> SentenceVectors:
    """The vectors of texts by every pooling: that of the token in ``summary_token`` ("cls"), or the mean or the maximum
    over a text's tokens without special ones.

    ``states`` are (index of the text, its tokens and vectors), each index once, in any order; each is let go before the
    next is taken. Raises InvalidInput for a text of which nothing is left; ``name`` is what it calls the text with this
    number.
    """
    found: dict[Pooling, dict[int, FloatArray]] = {pooling: {} for pooling in POOLINGS}
    n_dropped = [0] * n_texts
    for place, hidden in states:
        n_dropped[place] = hidden.encoding.n_dropped
        for pooling in POOLINGS:
            vectors = _pooled(hidden, pooling)
            if vectors is None:
                raise InvalidInput(f"{name.format(place + 1)} has no token that this model reads. Change it.")
            found[pooling][place] = np.array(vectors)  # a view would keep all tokens' vectors
    stacked = {
        pooling: np.stack([vectors[place] for place in range(n_texts)], axis=1) for pooling, vectors in found.items()
    }
    return SentenceVectors(stacked, tuple(n_dropped))


def _pooled(hidden: HiddenStates, pooling: Pooling) -> FloatArray | None:
    if pooling == "cls" and classifier_place(hidden.encoding) is None:
        return hidden.states[:, 0] if len(hidden.encoding) else None
    return pooled(hidden, pooling)


def cosines(vectors: FloatArray) -> FloatArray:
    """The cosine of every pair of vectors (n, width): (n, n), symmetric, 1 on the diagonal; 0 for a vector of zeros."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    return np.clip(unit @ unit.T, -1, 1).astype(np.float32)


def pair_cosines(a: FloatArray, b: FloatArray) -> FloatArray:
    """The cosine of each vector of A with that of B in the same place, (n, width) each: (n,)."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.asarray((a * b).sum(axis=-1) / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def mean_of_pairs(vectors: FloatArray) -> float:
    """Anisotropy: the mean cosine over all pairs of different vectors (n, width), n > 1 (Ethayarajh 2019). Near 0 where
    directions are used alike, near 1 where all vectors point the same way.
    """
    n = len(vectors)
    matrix = cosines(vectors).astype(np.float64)
    return float((matrix.sum() - np.trace(matrix)) / (n * (n - 1)))


@dataclass(frozen=True, slots=True)
class Shared:
    """What vectors of a reference have in common: their mean (width,) and their strongest directions (k, width)."""

    mean: FloatArray = field(repr=False)
    directions: FloatArray = field(repr=False)

    def removed(self, vectors: FloatArray) -> FloatArray:
        """Vectors (n, width) without it: "all but the top" (Mu & Viswanath 2018). One that is nothing else becomes
        zeros: the direction of what rounding leaves of it would mean nothing.
        """
        left = vectors.astype(np.float64) - self.mean
        left -= left @ self.directions.T @ self.directions
        lengths, before = (np.linalg.norm(each, axis=1, keepdims=True) for each in (left, vectors))
        return np.where(lengths > _ROUNDING * before, left, 0).astype(np.float32)


def shared_by(reference: FloatArray, n_directions: int = 1) -> Shared:
    """The mean of a reference (n, width) and its first principal directions, as many as are asked for and there are."""
    mean = reference.mean(axis=0, dtype=np.float64)
    _, lengths, directions = np.linalg.svd(reference - mean, full_matrices=False)
    kept = [place for place in range(min(n_directions, len(lengths))) if lengths[place] > 1e-6]
    return Shared(mean.astype(np.float32), directions[kept].astype(np.float32))


def nearest(similarity: FloatArray, place: int) -> list[int]:
    """The other places, the most similar first; ``similarity`` (n, n)."""
    return [int(other) for other in np.argsort(-similarity[place], kind="stable") if other != place]


@dataclass(frozen=True, slots=True)
class Agreement(Shows):
    """How one layer and pooling does on scored pairs, with what all vectors share or with that ``removed``.

    ``rho`` is Spearman's ρ of cosines with scores, ``low`` and ``high`` its 95% interval; NaN where all
    cosines are the same. ``mean_cosine`` is that of all pairs of different sentences.
    """

    layer: int
    pooling: Pooling
    removed: bool
    rho: float
    low: float
    high: float
    mean_cosine: float


@dataclass(frozen=True, slots=True)
class Measured(Shows):
    """What scored pairs say of a model: what a reference of sentences shares, by pooling and layer, and how cosines
    agree with the scores of pairs of other sentences.
    """

    shared: Mapping[Pooling, tuple[Shared, ...]] = field(repr=False)
    agreements: tuple[Agreement, ...] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row a layer, pooling and whether what is shared is removed, with the fields of ``Agreement``."""
        return pd.DataFrame([asdict(one) for one in self.agreements])

    def of(self, layer: int, pooling: Pooling, *, removed: bool) -> Agreement:
        wanted = layer, pooling, removed
        return next(each for each in self.agreements if (each.layer, each.pooling, each.removed) == wanted)


def measure(
    reference: SentenceVectors,
    sentences: SentenceVectors,
    pairs: Sequence[tuple[int, int]],
    scores: Sequence[float],
    groups: Sequence[str],
) -> Measured:
    """Every layer and pooling on pairs of ``sentences``, given by their places; what is removed is shared by the
    ``reference``. Pairs of one group are no independent ones.
    """
    a, b = (list(side) for side in zip(*pairs, strict=True))
    shared = {pooling: tuple(map(shared_by, layers)) for pooling, layers in reference.of.items()}
    keys, told, means = [], [], []
    for pooling, layers in sentences.of.items():
        for layer, raw in enumerate(layers):
            for removed in (False, True):
                vectors = shared[pooling][layer].removed(raw) if removed else raw
                keys.append((layer, pooling, removed))
                told.append(pair_cosines(vectors[a], vectors[b]))
                means.append(mean_of_pairs(vectors))
    found = agreement(np.stack(told), scores, groups).tolist()
    every = (
        Agreement(layer, pooling, removed, rho, low, high, mean)
        for (layer, pooling, removed), (rho, low, high), mean in zip(keys, found, means, strict=True)
    )
    return Measured(shared, tuple(every))


def agreement(told: FloatArray, scores: Sequence[float], groups: Sequence[str]) -> DoubleArray:
    """Spearman's ρ of each row of cosines (rows, pairs) with the scores, and the ends of its 95% interval over the
    groups of pairs: (rows, 3). NaN where either does not vary.
    """
    gold = np.asarray(scores, dtype=np.float64)
    group_of = np.asarray(groups)
    every = np.unique(group_of)
    without = np.stack([_spearman(told[:, group_of != group], gold[group_of != group]) for group in every])
    return np.array(
        [
            (rho, *(interval(rho, [left_out(rest)], len(every), lowest=-1.0) if not np.isnan(rho) else (rho, rho)))
            for rho, rest in zip(_spearman(told, gold), without.T, strict=True)
        ]
    )


def _spearman(told: FloatArray, scores: DoubleArray) -> DoubleArray:
    """Pearson's correlation of ranks, those of ties the mean of theirs; (rows,), NaN where nothing varies."""
    from scipy.stats import rankdata

    same = np.ptp(told, axis=1) <= 1e-6  # cosines of equal vectors differ by float32's rounding alone
    ranks, gold = rankdata(told, axis=1), rankdata(scores)
    ranks, gold = ranks - ranks.mean(axis=1, keepdims=True), gold - gold.mean()
    lengths = np.linalg.norm(ranks, axis=1) * np.linalg.norm(gold)
    same |= lengths == 0
    return np.where(same, np.nan, ranks @ gold / np.where(same, 1, lengths))
