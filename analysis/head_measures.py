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

    def sums(self, weights: FloatArray, norms: FloatArray | None = None) -> Sums:
        """Sum up a layer: ``weights`` (texts, heads, n, m), 0 at padding, and values' ``norms`` (texts, heads, m)."""
        n_texts, n_heads, n, m = weights.shape
        n_pairs = n * m
        seen = self._visible(weights.max(axis=1, initial=0) > 0)
        choice = self.queries & (seen.n_visible > 1)
        several = np.maximum(seen.n_visible - 1, 1)
        entropy = np.concatenate([_entropy(weights), _entropy(seen.even)[:, None]], axis=1)  # (texts, heads + 1, n)
        sums = np.zeros((n_texts, n_heads + 1, len(MEASURE_NAMES)))
        counts = np.zeros((n_texts, len(MEASURE_NAMES)))

        def put(name: str, values: Measured, of_queries: BoolArray) -> None:
            column = MEASURE_NAMES.index(name)
            sums[:, :, column] = np.einsum("bhq,bq->bh", values, of_queries.astype(np.float64))
            counts[:, column] = of_queries.sum(axis=1)

        put("entropy", entropy, self.queries & (seen.n_visible > 0))
        put("relative_entropy", entropy / np.log2(np.maximum(seen.n_visible, 2))[:, None], choice)
        put("spread", (np.exp2(entropy) - 1) / several[:, None], choice)
        if seen.same_sentence is not None:
            every = np.concatenate([weights, seen.even[:, None]], axis=1)
            n_own = seen.same_sentence.sum(axis=-1)
            kept = every * seen.same_sentence[:, None]
            kept_sum = kept.sum(axis=-1, keepdims=True)
            inside = _entropy(np.divide(kept, kept_sum, out=np.zeros_like(kept), where=kept_sum > 0))
            put("own_evenness", (np.exp2(inside) - 1) / np.maximum(n_own - 1, 1)[:, None], n_own > 1)

        # One product per text for all heads, shares and the distance: (heads, n m) x (n m, shares + 1).
        flat = weights.reshape(n_texts, n_heads, n_pairs)
        shares = np.concatenate([flat @ seen.keys, seen.even.reshape(n_texts, 1, -1) @ seen.keys], axis=1)
        columns = [MEASURE_NAMES.index(name) for name in (*SHARES, "distance")]
        sums[:, :, columns], counts[:, columns] = shares, seen.counts
        by_value = None
        if norms is not None:
            taken = weights * norms[:, :, None]
            total = taken.sum(axis=-1, keepdims=True)
            taken /= np.where(total > 0, total, np.float32(1))
            by_value = (taken.reshape(n_texts, n_heads, n_pairs) @ seen.keys[..., :-1]).astype(np.float64)
        keys = np.log(seen.n_visible[choice])
        chance = np.interp(keys, _KEYS, _SPREAD).sum(), (np.interp(keys, _KEYS, _SPREAD_DEVIATION) ** 2).sum()
        return Sums(sums, counts, np.array(chance), by_value)

    def _visible(self, visible: npt.NDArray[np.bool_]) -> _Seen:
        """What follows from which keys a layer's queries may see, (texts, n, m); mostly the same for all layers.

        What was found last is read once: another thread may put what it found of another layer in its place.
        """
        last = self._seen
        if last is None or not np.array_equal(last[0], visible):
            self._seen = last = visible, self._seen_keys(visible)
        return last[1]

    def _seen_keys(self, visible: BoolArray) -> _Seen:
        n_texts, n, m = visible.shape
        n_visible = visible.sum(axis=-1)
        even = (visible / np.maximum(n_visible, 1)[..., None]).astype(np.float32)
        seen = self.targets & visible[:, None] & self.queries[:, None, :, None]
        distance = np.abs(np.arange(n)[:, None] - np.arange(m)) * (visible & self.queries[..., None] & self.one_text)
        keys = np.concatenate([seen, distance[:, None]], axis=1, dtype=np.float32)
        measured = self.queries & (n_visible > 0) & self.one_text
        counts = np.concatenate([seen.any(axis=-1).sum(axis=-1), measured.sum(axis=-1)[:, None]], axis=1)
        same_sentence = seen[:, list(SHARES).index("own_sentence")]
        return _Seen(
            n_visible,
            even,
            np.ascontiguousarray(keys.reshape(n_texts, -1, n * m).swapaxes(1, 2)),
            counts,
            same_sentence if same_sentence.any() else None,
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """The number of keys a query may see (texts, n); a uniform head (texts, n, m); what each pair of tokens adds to
    each share and to the distance (texts, n * m, shares + 1), and the number of queries these are defined for (texts,
    shares + 1); the words of the own sentence (texts, n, m), where there are two.
    """

    n_visible: IntArray
    even: FloatArray
    keys: FloatArray
    counts: IntArray
    same_sentence: BoolArray | None


def mean_measures(sums: Measured, counts: Measured) -> Measures:
    """The means from sums and counts, both (heads, measures) in the order of ``MEASURE_NAMES``; nan without a count."""
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return Measures(**dict(zip(MEASURE_NAMES, means.T, strict=True)))


def _entropy(weights: npt.NDArray[np.floating]) -> Measured:
    """Shannon entropy in bits over the last axis; 0 log 0 is 0."""
    logs = np.log2(np.maximum(weights, np.finfo(np.float32).tiny))  # without a mask, which would take twice the time
    bits: Measured = -np.einsum("...k,...k->...", weights, logs).astype(np.float64)
    return bits


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
