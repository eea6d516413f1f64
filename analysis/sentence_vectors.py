"""Vectors of sentences and how alike they are: cosines, what all vectors share, and ranks against scored pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd

from analysis.intervals import interval, left_out
from analysis.probing.features import Pooling, classifier_place, pooled
from analysis.ranks import spearman
from model_zoo.errors import InvalidInput
from model_zoo.types import (
    DoubleArray,
    DType,
    Encoding,
    FloatArray,
    HiddenStates,
    IntArray,
    NamedPooling,
    PoolingMode,
    Shows,
)

SentencePooling = Literal["own"] | Pooling
"""That which the model's files name, or one that any model can have."""

POOLINGS: tuple[Pooling, ...] = ("cls", "mean", "max")
_ROUNDING = 1e-5
"""What is left of a vector, as a share of its length, below which it is float32's rounding and nothing else."""

_UNIT: Mapping[DType, float] = {"float32": 2**-24, "bfloat16": 2**-8, "float16": 2**-11}
"""How far, as a share, the next number of a format can be from any number: its unit roundoff u."""

# What rounding does to vectors of length 1, in u, and to a cosine, in u times the distance of its two vectors: at most
# 13 and 5 in the bundled models and MiniLM against the same networks in float64.
_OF_VECTORS, _OF_COSINES = 16, 8
_STEPS = 10
"""Of rounding, between the largest and the smallest cosine: fewer would leave little but ties to rank."""


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """Texts as vectors: for each pooling float32 (layers + 1, texts, width), "own" first where the model names one; the
    tokens of each text that were read, and those that were left out at the model's limit; and the format of the numbers
    that the network computed with.
    """

    of: Mapping[SentencePooling, FloatArray] = field(repr=False)
    n_tokens: tuple[int, ...] = field(repr=False)
    n_dropped: tuple[int, ...] = field(repr=False)
    dtype: DType = "float32"

    @property
    def usual(self) -> SentencePooling:
        """The pooling that is taken where nobody asks for another."""
        return usual_of(self.of)


def poolings_of(named: NamedPooling | None) -> tuple[SentencePooling, ...]:
    """The poolings of a model; "own" is the first where its files name one that can be followed."""
    return ("own", *POOLINGS) if named is not None and named.modes else POOLINGS


def usual_of(poolings: Collection[SentencePooling]) -> SentencePooling:
    """That of some poolings which is taken where nobody asks for another."""
    return "own" if "own" in poolings else "mean"


def summary_token(encoding: Encoding) -> str | None:
    """The token whose vector the pooling "cls" takes: [CLS] or what the model has in its stead. None where it has none
    (GPT-2, T5): it is the first of the text then.
    """
    place = classifier_place(encoding)
    return None if place is None else encoding.tokens[place]


def sentence_vectors(
    states: Iterable[tuple[int, HiddenStates]],
    n_texts: int,
    name: str = "Sentence {}",
    named: NamedPooling | None = None,
    dtype: DType = "float32",
) -> SentenceVectors:
    """The vectors of texts by every pooling: that which is ``named`` by the model ("own"), the vector of the token in
    ``summary_token`` ("cls"), or the mean or the maximum over a text's tokens without special ones.

    ``states`` are (index of the text, its tokens and vectors), each index once, in any order; each is let go before the
    next is taken. Raises InvalidInput for a text of which nothing is left; ``name`` is what it calls the text with this
    number. ``dtype`` is what the network computed with.
    """
    every = poolings_of(named)
    by_pooling: dict[SentencePooling, dict[int, FloatArray]] = {pooling: {} for pooling in every}
    n_tokens, n_dropped = [0] * n_texts, [0] * n_texts
    for place, hidden in states:
        n_tokens[place], n_dropped[place] = len(hidden.encoding), hidden.encoding.n_dropped
        for pooling in every:
            vectors = usual_vector(hidden, named) if pooling == "own" else _pooled(hidden, pooling)
            if vectors is None:
                raise InvalidInput(f"{name.format(place + 1)} has no token that this model reads. Change it.")
            by_pooling[pooling][place] = np.array(vectors)  # a view would keep all tokens' vectors
    stacked = {
        pooling: np.stack([vectors[place] for place in range(n_texts)], axis=1)
        for pooling, vectors in by_pooling.items()
    }
    return SentenceVectors(stacked, tuple(n_tokens), tuple(n_dropped), dtype)


def usual_vector(hidden: HiddenStates, named: NamedPooling | None) -> FloatArray | None:
    """A text's vector in every layer, (layers + 1, width): by the pooling that its model names, else the mean of its
    tokens without special ones. None for a text without tokens that count.
    """
    if named is None or not named.modes or not len(hidden.encoding):
        return pooled(hidden, "mean")
    return np.concatenate([_pool(hidden.states, mode) for mode in named.modes], axis=1, dtype=np.float32)


def _pool(states: FloatArray, mode: PoolingMode) -> DoubleArray:
    """As sentence-transformers pools one text: states (layers + 1, n, width), special tokens among them."""
    n = states.shape[1]
    match mode:
        case "cls":
            weights = np.eye(1, n, 0)[0]
        case "lasttoken":
            weights = np.eye(1, n, n - 1)[0]
        case "max":
            return states.max(axis=1).astype(np.float64)
        case "weightedmean":
            weights = np.arange(1, n + 1) / (n * (n + 1) / 2)
        case "mean" | "mean_sqrt_len_tokens":
            weights = np.full(n, 1 / n if mode == "mean" else n**-0.5)
    return np.einsum("lnw,n->lw", states, weights)


def _pooled(hidden: HiddenStates, pooling: Pooling) -> FloatArray | None:
    if pooling == "cls" and classifier_place(hidden.encoding) is None:
        return hidden.states[:, 0] if len(hidden.encoding) else None
    return pooled(hidden, pooling)


# Cosines are computed in double precision: where all vectors point the same way (those of [CLS] in the lower layers),
# they differ from the seventh decimal on, which float32 vectors hold, and cosines in float32 do not.


def _unit(vectors: FloatArray) -> DoubleArray:
    """Vectors (n, width) of length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float64)


def cosines(vectors: FloatArray) -> DoubleArray:
    """The cosine of every pair of vectors (n, width): (n, n), symmetric, 1 on the diagonal; 0 for a vector of zeros."""
    unit = _unit(vectors)
    return np.clip(unit @ unit.T, -1, 1)


def pair_cosines(a: FloatArray, b: FloatArray) -> DoubleArray:
    """The cosine of each vector of A with that of B in the same place, (n, width) each: (n,)."""
    return np.asarray((_unit(a) * _unit(b)).sum(axis=-1), dtype=np.float64)


def rounding(a: FloatArray, b: FloatArray, dtype: DType = "float32", grown: float = 1.0) -> DoubleArray:
    """How far the cosine of each vector of A with that of B, (n, width) each, can be from what the network would give
    without rounding its numbers: (n,). The closer two vectors are, the less it is.

    ``grown`` is how much longer vectors were before what all of them share was removed: the error stayed.
    """
    u = _UNIT[dtype] * grown
    apart = np.linalg.norm(_unit(a) - _unit(b), axis=-1)
    return np.asarray(_OF_COSINES * u * (apart + _OF_VECTORS * u), dtype=np.float64)


def all_alike(vectors: FloatArray, dtype: DType = "float32") -> bool:
    """Whether vectors (n, width) differ by no more than rounding explains."""
    return bool(np.linalg.norm(_unit(vectors) - _unit(vectors[:1]), axis=-1).max() <= 2 * _OF_VECTORS * _UNIT[dtype])


def mean_of_pairs(vectors: FloatArray) -> float:
    """Anisotropy: the mean cosine over all pairs of different vectors (n, width), n > 1 (Ethayarajh 2019). Near 0 where
    directions are used alike, near 1 where all vectors point the same way.
    """
    n = len(vectors)
    matrix = cosines(vectors)
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
        lengths, before = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (left, vectors))
        return np.where(lengths > _ROUNDING * before, left, 0).astype(np.float32)


def shared_by(reference: FloatArray, n_directions: int = 1) -> Shared:
    """The mean of a reference (n, width) and its first principal directions, as many as are asked for and there are."""
    mean = reference.mean(axis=0, dtype=np.float64)
    _, lengths, directions = np.linalg.svd(reference - mean, full_matrices=False)
    kept = [place for place in range(min(n_directions, len(lengths))) if lengths[place] > 1e-6]
    return Shared(mean.astype(np.float32), directions[kept].astype(np.float32))


def nearest(similarity: DoubleArray, place: int) -> list[int]:
    """The other places, the most similar first; ``similarity`` (n, n)."""
    return [int(other) for other in np.argsort(-similarity[place], kind="stable") if other != place]


@dataclass(frozen=True, slots=True)
class Agreement(Shows):
    """How one layer and pooling does on scored pairs, with what all vectors share or with that ``removed``.

    ``rho`` is Spearman's ρ of cosines with scores, ``low`` and ``high`` its 95% interval; ``spread`` is how far the
    cosines of the scored pairs are apart, the largest from the smallest. Where rounding explains a tenth of that or
    more, ρ is NaN. ``mean_cosine`` is that of all pairs of different sentences.
    """

    layer: int
    pooling: SentencePooling
    removed: bool
    rho: float
    low: float
    high: float
    spread: float
    mean_cosine: float


@dataclass(frozen=True, slots=True)
class Measured(Shows):
    """What scored pairs say of a model: what a reference of sentences shares, by pooling and layer, how cosines agree
    with the scores of pairs of other sentences, and the format of the numbers that the network computed with.
    """

    shared: Mapping[SentencePooling, tuple[Shared, ...]] = field(repr=False)
    agreements: tuple[Agreement, ...] = field(repr=False)
    dtype: DType = "float32"

    def to_frame(self) -> pd.DataFrame:
        """One row a layer, pooling and whether what is shared is removed, with the fields of ``Agreement``."""
        return pd.DataFrame([asdict(agreement) for agreement in self.agreements])

    def of(self, layer: int, pooling: SentencePooling, *, removed: bool) -> Agreement:
        wanted = layer, pooling, removed
        return next(
            agreement
            for agreement in self.agreements
            if (agreement.layer, agreement.pooling, agreement.removed) == wanted
        )


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
    keys, cosines, errors, means = [], [], [], []
    for pooling, layers in sentences.of.items():
        for layer, raw in enumerate(layers):
            for removed in (False, True):
                vectors = shared[pooling][layer].removed(raw) if removed else raw
                keys.append((layer, pooling, removed))
                cosines.append(pair_cosines(vectors[a], vectors[b]))
                grown = _median_length(raw) / (_median_length(vectors) or 1.0)
                errors.append(rounding(vectors[a], vectors[b], sentences.dtype, max(1.0, grown)))
                means.append(mean_of_pairs(vectors))
    agreements = agreement(np.stack(cosines), scores, groups, np.stack(errors)).tolist()
    spreads = np.ptp(cosines, axis=1).tolist()
    every = (
        Agreement(layer, pooling, removed, rho, low, high, spread, mean)
        for (layer, pooling, removed), (rho, low, high), spread, mean in zip(
            keys, agreements, spreads, means, strict=True
        )
    )
    return Measured(shared, tuple(every), sentences.dtype)


def _median_length(vectors: FloatArray) -> float:
    return float(np.median(np.linalg.norm(vectors, axis=1)))


def agreement(
    cosines: DoubleArray, scores: Sequence[float], groups: Sequence[str], errors: DoubleArray | None = None
) -> DoubleArray:
    """Spearman's ρ of each row of cosines (rows, pairs) with the scores, and the ends of its 95% interval over the
    groups of pairs: (rows, 3). NaN where either does not vary.

    Cosines that differ by no more than their ``errors`` (rows, pairs) are equal, and all of a row are where these are a
    tenth of what it varies by, or more.
    """
    gold = np.asarray(scores, dtype=np.float64)
    group_of = np.asarray(groups)
    every = np.unique(group_of)
    levels = cosines if errors is None else np.stack([_levels(*row) for row in zip(cosines, errors, strict=True)])
    without = np.stack([spearman(levels[:, group_of != group], gold[group_of != group]) for group in every])
    # Where all that varies was left out there is no order.
    without = np.nan_to_num(without)
    return np.array(
        [
            (rho, *(interval(rho, [left_out(rest)], len(every), lowest=-1.0) if not np.isnan(rho) else (rho, rho)))
            for rho, rest in zip(spearman(levels, gold), without.T, strict=True)
        ]
    )


def _levels(values: DoubleArray, errors: DoubleArray) -> IntArray:
    """Numbers in the order of values (n,), the same for those that their errors (n,) do not tell from the smallest of
    them; for all where they are few steps of rounding apart.
    """
    order = np.argsort(values, kind="stable")
    levels = np.zeros(len(values), dtype=np.int64)
    if np.ptp(values) < _STEPS * 2 * np.median(errors):
        return levels
    first = order[0]
    for before, place in pairwise(order):
        apart = values[place] - values[first] > errors[place] + errors[first]
        levels[place] = levels[before] + apart
        first = place if apart else first
    return levels
