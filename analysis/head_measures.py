"""Where each head of a model looks: its entropy, its distances, and its shares of attention, beside a uniform head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from analysis.arrays import Array, beside, in_memory, namespace
from analysis.words import word_units
from model_zoo.types import BoolArray, DoubleArray, Encoding, IntArray

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
    "rare": "the rarest token or word of the text, where it is known how rare they are",
    "rare_listed": "the rarest word of the text by a list of frequencies, where one is given",
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
    rare_listed: Measured


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

    def add(self, sums: Sums) -> None:
        """Add some texts."""
        self.sums[:] += sums.sums.sum(axis=0)
        self.counts[:] += sums.counts.sum(axis=0)
        self.chance[:] += sums.chance


@dataclass(frozen=True, slots=True)
class Sums:
    """One layer and some texts: ``sums`` over each text's queries (texts, heads + 1, measures), last a uniform head,
    and over how many (texts, measures); ``chance`` (2,) as in ``Totals``. ``by_value`` (texts, heads, shares) are the
    sums of ``SHARES`` where each key counts by α · ‖f(x)‖ (Kobayashi et al. 2020) instead of α, as a share of what the
    query takes from all keys; None without norms.
    """

    sums: Measured = field(repr=False)
    counts: Measured = field(repr=False)
    chance: Measured = field(repr=False)
    by_value: Measured | None = field(repr=False)


@dataclass(slots=True)
class Counted:
    """Some texts, padded to one length: which keys count towards each of ``SHARES``, bool (texts, shares, n, m); which
    queries are measured, bool (texts, n); whether queries and keys are the same tokens.
    """

    targets: BoolArray = field(repr=False)
    queries: BoolArray = field(repr=False)
    one_text: bool = True
    _seen: tuple[BoolArray, _Seen] | None = field(default=None, repr=False)

    def sums(self, weights: Array, norms: Array | None = None) -> Sums:
        """Sum up a layer: ``weights`` (texts, heads, n, m), 0 at padding, and values' ``norms`` (texts, heads, m), both
        of one kind and on one device, where the work is done; the sums are numpy's.
        """
        xp = namespace(weights)
        n_texts, n_heads, n, m = weights.shape
        seen = self._visible(in_memory((weights > 0).any(axis=1)), weights)
        of_heads = in_memory(_sum_up(weights, seen))
        sums = np.concatenate([of_heads, seen.uniform], axis=1, dtype=np.float64)
        by_value = None
        if norms is not None:
            total = weights @ norms[..., None]  # (texts, heads, n, 1)
            taken = weights * norms[:, :, None]
            taken *= 1 / xp.where(total > 0, total, 1.0)
            taken = taken.reshape(n_texts, n_heads, n * m) @ seen.keys[..., : len(SHARES)]
            by_value = in_memory(taken).astype(np.float64)
        return Sums(sums, seen.counts, seen.chance, by_value)

    def _visible(self, visible: BoolArray, weights: Array) -> _Seen:
        """What follows from which keys a layer's queries may see, (texts, n, m), beside its ``weights``; mostly the
        same for all layers.

        What was found last is read once: another thread may put what it found of another layer in its place.
        """
        last = self._seen
        if last is None or not np.array_equal(last[0], visible):
            self._seen = last = visible, self._seen_keys(visible).beside(weights)
        return last[1]

    def _seen_keys(self, visible: BoolArray) -> _Seen:
        n_texts, n, m = visible.shape
        n_visible = visible.sum(axis=-1)
        seen = self.targets & visible[:, None] & self.queries[:, None, :, None]
        distance = np.abs(np.arange(n)[:, None] - np.arange(m)) * (visible & self.queries[..., None] & self.one_text)
        keys = np.empty((n_texts, n, m, len(SHARES) + 1), dtype=np.float32)
        keys[..., :-1], keys[..., -1] = np.moveaxis(seen, 1, -1), distance
        same_sentence = seen[:, list(SHARES).index("own_sentence")]
        n_own = same_sentence.sum(axis=-1)
        choice = self.queries & (n_visible > 1)
        measured = {
            "entropy": self.queries & (n_visible > 0),
            "relative_entropy": choice,
            "spread": choice,
            "distance": self.queries & (n_visible > 0) & self.one_text,
            "own_evenness": n_own > 1,
        }
        counts = np.zeros((n_texts, len(MEASURE_NAMES)))
        counts[:, -len(SHARES) :] = seen.any(axis=-1).sum(axis=-1)
        for name, of_queries in measured.items():
            counts[:, MEASURE_NAMES.index(name)] = of_queries.sum(axis=1)
        by_chance = np.log(n_visible[choice])
        chance = np.interp(by_chance, _KEYS, _SPREAD).sum(), (np.interp(by_chance, _KEYS, _SPREAD_DEVIATION) ** 2).sum()
        result = _Seen(
            keys=keys.reshape(n_texts, n * m, -1),
            per_bit=np.stack(
                [measured["entropy"], choice / np.log2(np.maximum(n_visible, 2))], axis=-1, dtype=np.float32
            ),
            per_spread=(choice / np.maximum(n_visible - 1, 1)).astype(np.float32)[..., None],
            same_sentence=same_sentence if same_sentence.any() else None,
            per_own=((n_own > 1) / np.maximum(n_own - 1, 1)).astype(np.float32)[..., None],
            counts=counts,
            chance=np.array(chance),
            uniform=np.zeros(0),
        )
        even = (visible / np.maximum(n_visible, 1)[..., None]).astype(np.float32)
        return replace(result, uniform=_sum_up(even[:, None], result))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What each pair of tokens adds to each share and to the distance, (texts, n * m, shares + 1); what a bit of each
    query's entropy adds to entropy and relative entropy, (texts, n, 2), what two to the power of it to the spread, and
    to ``own_evenness``, (texts, n, 1); the words of the own sentence (texts, n, m), where there are two. These lie
    where the weights do. Over how many queries each measure is (texts, measures); chance, as in ``Sums``; the sums of a
    uniform head (texts, 1, measures).
    """

    keys: Array
    per_bit: Array
    per_spread: Array
    same_sentence: Array | None
    per_own: Array
    counts: Measured
    chance: Measured
    uniform: Measured

    def beside(self, weights: Array) -> _Seen:
        names = ("keys", "per_bit", "per_spread", "same_sentence", "per_own")
        there = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(self, **{name: beside(array, weights) for name, array in there.items()})


def _sum_up(weights: Array, seen: _Seen) -> Array:
    """The sums of all measures over the queries of each text, float32 (texts, heads, measures)."""
    xp = namespace(weights)
    n_texts, n_heads, n, m = weights.shape
    bits = _entropy(weights)  # (texts, heads, n)
    spread = (xp.exp2(bits) - 1) @ seen.per_spread
    evenness = xp.zeros_like(spread)
    if seen.same_sentence is not None:
        inside = weights * seen.same_sentence[:, None]
        total = inside.sum(axis=-1, keepdims=True)
        evenness = (xp.exp2(_entropy(inside / xp.where(total > 0, total, 1.0))) - 1) @ seen.per_own
    # One product per text for all heads, shares and the distance: (heads, n m) x (n m, shares + 1).
    shares = weights.reshape(n_texts, n_heads, n * m) @ seen.keys
    parts = bits @ seen.per_bit, spread, shares[..., -1:], evenness, shares[..., :-1]
    return xp.concatenate(parts, axis=-1)


def mean_measures(sums: Measured, counts: Measured) -> Measures:
    """The means from sums and counts, both (heads, measures) in the order of ``MEASURE_NAMES``; nan without a count."""
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return Measures(**dict(zip(MEASURE_NAMES, means.T, strict=True)))


def _entropy(weights: Array) -> Array:
    """Shannon entropy in bits over the last axis, float32; 0 log 0 is 0."""
    xp = namespace(weights)
    logs = xp.log2(xp.clip(weights, _TINY, None))  # without a mask, which would take twice the time
    return -xp.einsum("...k,...k->...", weights, logs)


_TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True, slots=True)
class Marks:
    """What is known of the tokens of some texts, (texts, n) each, padded: whether they are ``real``, special, the one
    that stands for the whole text, the rarest, the rarest by a list; the text's part (0 or 1), the number of the word
    as it is written, and the place of the word.
    """

    real: BoolArray = field(repr=False)
    special: BoolArray = field(repr=False)
    first: BoolArray = field(repr=False)
    rare: BoolArray = field(repr=False)
    rare_listed: BoolArray = field(repr=False)
    segment: IntArray = field(repr=False)
    kind: IntArray = field(repr=False)
    word: IntArray = field(repr=False)

    @classmethod
    def build(
        cls,
        encodings: Sequence[Encoding],
        rare: Sequence[BoolArray | None],
        listed: Sequence[BoolArray | None],
        numbers: dict[str, int] | None = None,
    ) -> Marks:
        """From texts with the rarest tokens (n,) of each, where known, and the ``numbers`` of words as written."""
        numbers = {} if numbers is None else numbers
        n = max(map(len, encodings))
        flags = np.zeros((5, len(encodings), n), dtype=bool)
        places = np.full((3, len(encodings), n), -1, dtype=np.int64)
        for text, (encoding, *rarest) in enumerate(zip(encodings, rare, listed, strict=True)):
            end = len(encoding)
            flags[0, text, :end] = True
            flags[1, text, :end] = encoding.special
            flags[2, text, _first(encoding)] = True
            for flag, rare_tokens in zip(flags[3:], rarest, strict=True):
                if rare_tokens is not None:
                    flag[text, :end] = rare_tokens
            places[0, text, :end] = encoding.segment_ids
            places[1, text, :end], places[2, text, :end] = _words(encoding, numbers)
        return cls(*flags, *places)


def counted_keys(queries: Marks, keys: Marks) -> Counted:
    """Which keys of which query count towards each of ``SHARES``; ``keys`` are ``queries`` where both are one text."""
    one_text = keys is queries  # else places and sentences of the two sides have nothing to do with each other
    n, m = queries.real.shape[1], keys.real.shape[1]
    special, first, typed = keys.special[:, None], keys.first[:, None], (keys.real & ~keys.special)[:, None]
    itself = np.eye(n, m, dtype=bool)[None] & one_text
    same_unit = (queries.word[..., None] == keys.word[:, None]) & one_text
    same_segment = queries.segment[..., None] == keys.segment[:, None]
    in_two = np.where(keys.real & ~keys.special, keys.segment, 0).any(axis=-1)
    in_two &= (np.where(keys.real & ~keys.special, keys.segment, 1) == 0).any(axis=-1)
    two_sentences = (in_two & one_text)[:, None, None]
    of_share: dict[str, BoolArray] = {
        "first": first & ~itself,
        "separator": special & ~first & ~itself,
        "delimiter": (special | first) & ~itself,
        "itself": itself,
        "previous": np.eye(n, m, k=-1, dtype=bool)[None] & one_text,
        "next": np.eye(n, m, k=1, dtype=bool)[None] & one_text,
        "same_word": (queries.kind[..., None] == keys.kind[:, None]) & ~same_unit & typed,
        "pieces": same_unit & ~itself,
        "own_sentence": same_segment & typed & two_sentences,
        "other_sentence": ~same_segment & typed & two_sentences,
        "rare": keys.rare[:, None] & typed & ~itself,
        "rare_listed": keys.rare_listed[:, None] & typed & ~itself,
    }
    targets = np.stack([np.broadcast_to(of_share[name], (len(queries.real), n, m)) for name in SHARES], axis=1)
    return Counted(targets, queries.real & ~queries.special, one_text)


def rarest_tokens(encoding: Encoding, rarity: Sequence[float] | None) -> BoolArray | None:
    """The rarest tokens of a text by a number for every id of the vocabulary, (n,); None without these numbers."""
    if rarity is None:
        return None
    rank = np.array([rarity[id_] for id_ in encoding.ids], dtype=np.float64)
    rank[np.array(encoding.special, dtype=bool)] = -np.inf
    return np.asarray(rank == rank.max())


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
