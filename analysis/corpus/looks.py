"""Where heads look from some words to others: the pairs found, and sums by head that add up over parts of a corpus."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np
import pandas as pd

from analysis.corpus.placing import belongs, word_of_token
from analysis.corpus.sentences import Sentence
from model_zoo.types import AttentionRun, BoolArray, DoubleArray, FloatArray, IntArray, ReadOnly, Shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits(ReadOnly, Shows):
    """Pairs of words between which a head looks, one entry a pair and head in every array.

    ``of`` is the head's place among those asked about. ``sentence`` is the number of the sentence, ``query`` and
    ``key`` are places among its words (-1 for a token that belongs to none), ``query_start`` to ``key_end`` their
    characters; ``token`` is the first token of the query. ``weight`` is the attention between the two, ``strongest``
    whether the key gets the most of all words, or of all tokens for a pattern of tokens, beside the query itself and
    special tokens.
    """

    of: IntArray = field(repr=False)
    sentence: IntArray = field(repr=False)
    query: IntArray = field(repr=False)
    key: IntArray = field(repr=False)
    query_start: IntArray = field(repr=False)
    query_end: IntArray = field(repr=False)
    key_start: IntArray = field(repr=False)
    key_end: IntArray = field(repr=False)
    token: IntArray = field(repr=False)
    weight: FloatArray = field(repr=False)
    strongest: BoolArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.of)

    def to_frame(self) -> pd.DataFrame:
        """One row a pair and head, with the fields as columns."""
        return pd.DataFrame({column.name: getattr(self, column.name) for column in fields(self)})

    def take(self, places: IntArray | BoolArray | slice) -> Hits:
        """Some of them, in this order."""
        return Hits(**{column.name: getattr(self, column.name)[places] for column in fields(self)})

    def best(self, most: int) -> Hits:
        """The ``most`` strongest of each head, strongest first; of equal ones the earlier in the corpus."""
        order = np.lexsort((self.key_start, self.query_start, self.sentence, -self.weight, self.of))
        of = self.of[order]
        rank = np.arange(len(of)) - np.searchsorted(of, of)
        return self.take(order[rank < most])


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks(ReadOnly, Shows):
    """What was found in some sentences, by head; two add up to what is found in the sentences of both.

    ``layer`` and ``head`` are the heads asked about, from 0. ``n`` counts the pairs of a query and a key that it may
    see, ``strongest`` those in which the key gets the most; ``weight`` sums the attention between them, ``even`` what a
    head gives that spreads its attention evenly over all tokens it may see. ``hits`` are the ``most`` strongest pairs
    of each head. ``n_sentences`` were read, ``n_found`` hold a pair, and ``n_cut`` were longer than the model reads, so
    that their ends were not looked at.
    """

    layer: IntArray = field(repr=False)
    head: IntArray = field(repr=False)
    n: IntArray = field(repr=False)
    strongest: IntArray = field(repr=False)
    weight: DoubleArray = field(repr=False)
    even: DoubleArray = field(repr=False)
    hits: Hits
    most: int
    n_sentences: int
    n_found: int
    n_cut: int

    def __add__(self, other: Looks) -> Looks:
        """Raises ValueError for other heads, or another number of hits."""
        if self.most != other.most or not (
            np.array_equal(self.layer, other.layer) and np.array_equal(self.head, other.head)
        ):
            raise ValueError("only what was asked of the same heads adds up")
        both = Hits(
            **{
                column.name: np.concatenate([getattr(self.hits, column.name), getattr(other.hits, column.name)])
                for column in fields(Hits)
            }
        )
        sums = ("n", "strongest", "weight", "even", "n_sentences", "n_found", "n_cut")
        return replace(
            self, hits=both.best(self.most), **{name: getattr(self, name) + getattr(other, name) for name in sums}
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a head: layer, head, mean attention, expected, n, strongest; pairs are in ``hits.to_frame()``."""
        return pd.DataFrame(
            {
                "layer": self.layer,
                "head": self.head,
                "mean": self.mean,
                "expected": self.expected,
                "n": self.n,
                "strongest": self.strongest,
            }
        )

    @property
    def mean(self) -> DoubleArray:
        """The mean attention of each head over its pairs; nan where it has none."""
        return _mean(self.weight, self.n)

    @property
    def expected(self) -> DoubleArray:
        """The same of a head that spreads its attention evenly."""
        return _mean(self.even, self.n)

    def head_hits(self, place: int) -> Hits:
        """The strongest pairs of one of the heads, by its place."""
        return self.hits.take(self.hits.of == place)

    def strongest_of_all(self, most: int) -> Hits:
        """The strongest pairs, whichever head looks: each pair once, with the head that looks the most."""
        order = np.argsort(-self.hits.weight, kind="stable")
        spans = np.stack([self.hits.sentence, self.hits.query_start, self.hits.key_start], axis=1)[order]
        _, first = np.unique(spans, axis=0, return_index=True)
        return self.hits.take(order[np.sort(first)[:most]])


def _mean(sums: DoubleArray, n: IntArray) -> DoubleArray:
    return np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)


def attention_to_words(
    run: AttentionRun, sentence: Sentence, word: int, layer: int, head: int | slice
) -> tuple[int, FloatArray] | None:
    """The first token of a word, and what a head gives of the word's attention to each word, (words,), or a slice of a
    layer's heads, (heads, words): pieces summed into keys, averaged over queries; nothing to the word itself. None
    where the word has no token.
    """
    word_of = word_of_token(run.encoding, sentence.spans)
    queries = np.flatnonzero(word_of == word)
    if not len(queries):
        return None
    rows = run.layers[layer].weights(head, slice(int(queries[0]), int(queries[-1]) + 1))
    received = rows[..., queries - queries[0], :].mean(axis=-2) @ belongs(word_of, len(sentence))
    received[..., word] = 0
    return int(queries[0]), np.asarray(received, dtype=np.float32)


def strongest_word(run: AttentionRun, sentence: Sentence, word: int, layer: int, head: int) -> int | None:
    """The word to which a head gives the most of a word's attention, beside that word and special tokens. None where it
    can see no other, or the word has no token.
    """
    received = attention_to_words(run, sentence, word, layer, head)
    return int(received[1].argmax()) if received is not None and received[1].any() else None
