"""Where each head of a model looks: its entropy, its distances, and its shares of attention, beside a uniform head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from analysis.words import word_units
from model_zoo.types import BoolArray, DoubleArray, Encoding, FloatArray, IntArray

Measured = DoubleArray

# Mean and standard deviation of the spread of a query's weights by chance, by the number of keys: the larger of
# the two kinds that ``heads.FALSE_ALARMS`` names, from 20,000 draws per number (4,000 from 100 keys on).
_KEYS = np.log([2, 3, 4, 5, 6, 8, 12, 16, 32, 64, 128, 512])
_SPREAD = np.array([0.735, 0.711, 0.699, 0.690, 0.683, 0.671, 0.661, 0.660, 0.658, 0.656, 0.656, 0.655])
_SPREAD_DEVIATION = np.array([0.288, 0.213, 0.178, 0.166, 0.155, 0.144, 0.129, 0.118, 0.096, 0.077, 0.060, 0.034])

# Tokens that stand for the whole text where they do not come first: XLNet's comes last.
_CLASSIFICATION = ("[CLS]", "<cls>")

# Measures that are shares of a query's attention: the name of the measure -> which keys count towards it.
SHARES = {
    "first": "the special token before the text ([CLS], <s>; after it in XLNet, <cls>), else the first token",
    "separator": "the other special tokens ([SEP], </s>, <sep>)",
    "delimiter": "all special tokens, or the first token in a model without these",
    "itself": "the token itself",
    "previous": "the token before",
    "next": "the token after",
    "same_word": "the same word elsewhere in the text, ignoring case",
    "pieces": "the other pieces of the same word",
    "own_sentence": "the words of the token's own sentence, where there are two",
    "other_sentence": "the words of the other sentence",
    "rare": "the rarest token of the text, where it is known how rare tokens are",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What heads do with their attention; every field is float64 (heads of all layers,), nan where undefined.

    All are means over the query tokens that are not special (special tokens look at special tokens in
    nearly every head, which would drown short texts). ``entropy`` is in bits, ``relative_entropy`` divides
    it by log2 of the number of keys a query may see, ``spread`` is (2^entropy - 1) / (keys - 1): 0 for one
    key, 1 for uniform attention. ``distance`` is the mean distance in tokens. ``own_evenness`` is the spread
    within the words of the own sentence. The others are the shares of ``SHARES``, each over the queries for
    which such a key exists and may be seen. In cross-attention the keys are another text: distance and the
    shares ``itself``, ``previous``, ``next``, ``pieces``, ``own_sentence`` and ``other_sentence`` are nan there,
    and ``same_word`` is the same word in that text.
    """

    entropy: Measured
    relative_entropy: Measured
    spread: Measured
    distance: Measured
    own_evenness: Measured
    first: Measured
    separator: Measured
    delimiter: Measured
    itself: Measured
    previous: Measured
    next: Measured
    same_word: Measured
    pieces: Measured
    own_sentence: Measured
    other_sentence: Measured
    rare: Measured


MEASURE_NAMES = tuple(measure.name for measure in fields(Measures))


@dataclass(frozen=True, slots=True)
class Totals:
    """One layer: sums over queries (heads + 1, measures), last row a uniform head; counts (measures,); the sums of mean
    and variance (2,) that the spread of a query's weights has by chance.
    """

    sums: Measured = field(repr=False)
    counts: Measured = field(repr=False)
    chance: Measured = field(repr=False)

    @classmethod
    def zeros(cls, n_heads: int) -> Totals:
        """The totals of a layer before its first text."""
        return cls(np.zeros((n_heads + 1, len(MEASURE_NAMES))), np.zeros(len(MEASURE_NAMES)), np.zeros(2))

    def add(self, maps: FloatArray, targets: BoolArray, queries: IntArray, *, one_text: bool) -> None:
        """Add one text: maps (heads, n, m), targets (shares, n, m), indices of the queries that count, and whether
        queries and keys are the same tokens.
        """
        weights = maps[:, queries]  # (heads, q, m)
        visible = (weights > 0).any(axis=0)  # (q, m)
        n_visible = visible.sum(axis=1)  # (q,)
        even = visible / np.maximum(n_visible, 1)[:, None]
        weights = np.concatenate([weights, even[None].astype(np.float32)])  # the uniform head goes along as the last

        entropy = _entropy(weights)  # (heads + 1, q)
        choice = n_visible > 1
        distance = np.abs(queries[:, None] - np.arange(maps.shape[-1]))
        of_measure: dict[str, tuple[Measured, BoolArray]] = {
            "entropy": (entropy, n_visible > 0),
            "relative_entropy": (entropy / np.log2(np.maximum(n_visible, 2)), choice),
            "spread": ((np.exp2(entropy) - 1) / np.maximum(n_visible - 1, 1), choice),
            "distance": (np.einsum("hqk,qk->hq", weights, distance), (n_visible > 0) & one_text),
        }
        seen = targets[:, queries] & visible  # (shares, q, m)
        # One product per query for all heads and shares: (q, heads + 1, m) x (q, m, shares).
        share = np.matmul(weights.transpose(1, 0, 2), seen.transpose(1, 2, 0).astype(np.float32))
        for index, name in enumerate(SHARES):
            of_measure[name] = share[..., index].T, seen[index].any(axis=1)

        own = seen[list(SHARES).index("own_sentence")]
        n_own = own.sum(axis=1)
        kept = weights * own
        kept_sum = kept.sum(axis=-1, keepdims=True)
        inside = _entropy(np.divide(kept, kept_sum, out=np.zeros_like(kept), where=kept_sum > 0))
        of_measure["own_evenness"] = (np.exp2(inside) - 1) / np.maximum(n_own - 1, 1), n_own > 1

        for column, name in enumerate(MEASURE_NAMES):
            values, defined = of_measure[name]
            self.sums[:, column] += values[:, defined].sum(axis=1, dtype=np.float64)
            self.counts[column] += defined.sum()
        keys = np.log(n_visible[choice])
        self.chance[0] += np.interp(keys, _KEYS, _SPREAD).sum()
        self.chance[1] += (np.interp(keys, _KEYS, _SPREAD_DEVIATION) ** 2).sum()


def mean_measures(sums: Measured, counts: Measured) -> Measures:
    """The means from sums and counts, both (heads, measures) in the order of ``MEASURE_NAMES``; nan without a count."""
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return Measures(**dict(zip(MEASURE_NAMES, means.T, strict=True)))


def _entropy(weights: npt.NDArray[np.floating]) -> Measured:
    """Shannon entropy in bits over the last axis; 0 log 0 is 0."""
    bits: Measured = -(weights * np.log2(np.where(weights > 0, weights, 1))).sum(axis=-1, dtype=np.float64)
    return bits


def counted_keys(queries: Encoding, keys: Encoding, rarity: Sequence[float] | None) -> BoolArray:
    """For every share of ``SHARES`` which keys of which query count towards it: bool (shares, n, m)."""
    one_text = keys is queries  # else places and sentences of the two sides have nothing to do with each other
    shape = len(queries), len(keys)
    special = np.array(keys.special, dtype=bool)
    segment = np.array(keys.segment_ids)
    numbers: dict[str, int] = {}
    query_type, query_word = _words(queries, numbers)
    key_type, key_word = _words(keys, numbers)
    rank = np.array([np.nan if rarity is None else rarity[id_] for id_ in keys.ids], dtype=np.float64)
    rank[special] = -np.inf

    first = np.zeros(len(keys), dtype=bool)
    first[_first(keys)] = True
    itself = np.eye(*shape, dtype=bool) & one_text
    same_unit = (query_word[:, None] == key_word) & one_text
    same_segment = np.array(queries.segment_ids)[:, None] == segment
    two_sentences = one_text and len(set(segment[~special])) > 1
    of_share: dict[str, BoolArray] = {
        "first": first[None] & ~itself,
        "separator": (special & ~first)[None] & ~itself,
        "delimiter": (special | first)[None] & ~itself,
        "itself": itself,
        "previous": np.eye(*shape, k=-1, dtype=bool) & one_text,
        "next": np.eye(*shape, k=1, dtype=bool) & one_text,
        "same_word": (query_type[:, None] == key_type) & ~same_unit & ~special,
        "pieces": same_unit & ~itself,
        "own_sentence": same_segment & ~special & two_sentences,
        "other_sentence": ~same_segment & ~special & two_sentences,
        "rare": (rank == rank.max())[None] & ~special & ~itself,
    }
    return np.stack([np.broadcast_to(of_share[name], shape) for name in SHARES])


def _first(encoding: Encoding) -> list[int]:
    """The place of the token that stands for the whole text; of the first in a model without special tokens; none where
    special tokens only end a text (T5).
    """
    if encoding.special[0] or not any(encoding.special):
        return [0]
    last = len(encoding) - 1
    return [last] if encoding.special[last] and encoding.tokens[last] in _CLASSIFICATION else []


def special_names(encoding: Encoding) -> dict[str, str]:
    """What the keys of the shares "first" and "separator" are called in this text: ``{"first": "<cls>", "separator":
    "<sep>"}`` for XLNet; without the shares that have no keys.
    """
    first = _first(encoding)
    others = [
        token
        for place, (token, special) in enumerate(zip(encoding.tokens, encoding.special, strict=True))
        if special and place not in first
    ]
    names = {"separator": " or ".join(dict.fromkeys(others))} if others else {}
    if first:
        names["first"] = encoding.tokens[first[0]] if encoding.special[first[0]] else "first token"
    return names


def _words(encoding: Encoding, numbers: dict[str, int]) -> tuple[IntArray, IntArray]:
    """For every token the number of its word as it is written, ignoring case, and the place of its word in the text.
    ``numbers`` holds those given so far.
    """
    units = word_units(encoding)
    lengths = [unit.stop - unit.start for unit in units]
    of_unit = [numbers.setdefault(unit.label.casefold(), len(numbers)) for unit in units]
    return np.repeat(of_unit, lengths), np.repeat(np.arange(len(units)), lengths)
