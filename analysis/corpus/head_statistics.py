"""What a model's heads do over a corpus: ``HeadStatistics``, made of parts that add up in any order.

``BatchMeasurer`` makes the part of one padded batch from the attention of its layers, one at a time. All scores are
sums over sentences, cases, and examples that a part keeps few of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.arrays import Array, beside, in_memory, namespace
from analysis.corpus.between_words import Strongest, between_words, edges_found, hide_trivial, strongest_pairs
from analysis.corpus.examples import Examples
from analysis.corpus.moments import Moments
from analysis.corpus.placing import word_of_token
from analysis.corpus.relations import (
    ALL,
    Cases,
    Direction,
    Relation,
    RelationQuery,
    relation_queries,
    shares_right,
)
from analysis.corpus.sentences import Sentence
from analysis.head_measures import MEASURE_NAMES, SHARES, Marks, Totals, counted_keys
from analysis.heads import HeadTable, table_of
from analysis.probing.trees import is_punctuation
from model_zoo.types import BoolArray, DoubleArray, Encoding, IntArray, Shows
from model_zoo.types import counted as counted_noun

BY_VALUE: Final = "value_"
"""What the names of shares begin with if each key counts by α · ‖f(x)‖ instead of α."""

NAMES: Final = (*MEASURE_NAMES, *(f"{BY_VALUE}{share}" for share in SHARES))
"""The measures of ``HeadStatistics``, in the order of their columns."""

NUMBERS: Final = frozenset({"entropy", "distance"})
"""The measures that are no shares: bits and tokens."""


class Head(NamedTuple):
    """A head by layer and number, both from 0."""

    layer: int
    head: int


class SkippedCounts(NamedTuple):
    """What could not be measured: sentences longer than the model reads, with how many of their tokens were left out;
    words without a token of their own, because the tokenizer joins them to a neighbour, drops or cuts them; relations
    that such words are part of; sentences whose tree could therefore not be compared.
    """

    cut_sentences: int = 0
    cut_tokens: int = 0
    words: int = 0
    relations: int = 0
    trees: int = 0

    def notices(self) -> tuple[str, ...]:
        """The same as sentences for the screen; empty if everything was measured."""
        notices = []
        if self.cut_sentences:
            notices.append(
                f"{counted_noun(self.cut_sentences, 'sentence')} longer than the model reads: "
                f"{counted_noun(self.cut_tokens, 'token')} at their ends left out."
            )
        if self.words:
            notices.append(
                f"{counted_noun(self.words, 'word')} without a token of their own (cut off, dropped, or joined to a "
                f"neighbour by the tokenizer): {counted_noun(self.relations, 'relation')} and "
                f"{counted_noun(self.trees, 'tree')} of such words left out."
            )
        return tuple(notices)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadStatistics(Shows):
    """What was measured of some sentences; the sum of two is that of both their sentences.

    ``heads`` are the heads of each layer; everything "of all heads" goes layer by layer. ``moments`` of ``NAMES`` are
    of all heads (heads, names), their counts of each layer repeated for its heads; ``uniform`` (layers, measures) and
    ``chance`` (layers, 2) as in ``head_measures.Totals``. ``cases`` are those of relations, ``edges`` the moments of
    gold edges that a head's own tree has (heads,), and ``chain`` (1,) of the chain of neighbours.
    """

    heads: tuple[int, ...] = field(repr=False)
    n_texts: int
    n_tokens: int
    n_queries: int
    skipped: SkippedCounts
    moments: Moments
    uniform: DoubleArray = field(repr=False)
    chance: DoubleArray = field(repr=False)
    cases: Cases
    edges: Moments
    chain: Moments
    examples: Examples

    def __add__(self, other: HeadStatistics) -> HeadStatistics:
        return total([self, other])

    def closed(self) -> HeadStatistics:
        """The same when no more parts are to come."""
        closed = {name: getattr(self, name).closed() for name in ("moments", "edges", "chain")}
        return replace(self, **closed)

    def __repr__(self) -> str:
        texts, heads = counted_noun(self.n_texts, "sentence"), counted_noun(self.n_heads, "head")
        return f"<HeadStatistics of {texts}, {counted_noun(self.n_tokens, 'token')}: {heads}>"

    def to_frame(self) -> pd.DataFrame:
        """One row a head: layer, head, label (what it does by the rules of ``analysis.heads``), and each measure that
        is defined, with the ends of its interval, low and high.
        """
        layer, head = zip(*self.every_head(), strict=True)
        columns: dict[str, object] = {"layer": layer, "head": head, "label": self.table().labels}
        for name in self.defined():
            low, high = self.interval(name)
            columns |= {name: self.measure(name), f"{name}_low": low, f"{name}_high": high}
        return pd.DataFrame(columns)

    @property
    def n_heads(self) -> int:
        """Heads of all layers."""
        return sum(self.heads)

    def head(self, place: int) -> Head:
        """The head at a place among all."""
        layer = int(np.searchsorted(np.cumsum(self.heads), place, side="right"))
        return Head(layer, place - sum(self.heads[:layer]))

    def place(self, layer: int, head: int) -> int:
        """The place of a head among all."""
        return sum(self.heads[:layer]) + head

    def every_head(self) -> list[Head]:
        return [Head(layer, head) for layer, n in enumerate(self.heads) for head in range(n)]

    def measure(self, name: str) -> DoubleArray:
        """The mean of a measure of all heads, (heads,); nan where undefined."""
        return self.moments.means[:, NAMES.index(name)]

    def interval(self, name: str) -> tuple[DoubleArray, DoubleArray]:
        """The ends of the 95% intervals over sentences, or over frames of templates, (heads,) each."""
        column = NAMES.index(name)
        return self.moments.column(column).intervals(shares=name not in NUMBERS)

    def right(self, relation: Relation) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
        """How often each head finds the partner of a relation in the half of the sentences that judges, and the ends of
        the 95% intervals, (heads,) each.
        """
        cases = self.cases.select(relation)
        return shares_right(cases.where(cases.judged))

    def defined(self) -> tuple[str, ...]:
        """The names of the measures that any head has."""
        means = self.moments.means
        return tuple(name for place, name in enumerate(NAMES) if np.isfinite(means[:, place]).any())

    def table(self) -> HeadTable:
        """The same as ``analysis.heads.head_table`` of these sentences' runs: measures and labels by rules."""
        n = len(MEASURE_NAMES)
        moments = self.moments.closed()
        ends = np.cumsum(self.heads)
        totals = [
            Totals(
                np.concatenate([moments.s[end - heads : end, :n], self.uniform[layer][None]]),
                moments.n[end - 1, :n],
                self.chance[layer],
            )
            for layer, (heads, end) in enumerate(zip(self.heads, ends, strict=True))
        ]
        return table_of(totals, self.n_queries, self.n_texts)


def total(parts: Sequence[HeadStatistics]) -> HeadStatistics:
    """The sum of some parts, of one model."""
    first = parts[0]
    plain = {
        entry.name: reduce(add, (getattr(part, entry.name) for part in parts))
        for entry in fields(HeadStatistics)
        if entry.name not in ("heads", "skipped", "cases")
    }
    skipped = SkippedCounts(*(sum(numbers) for numbers in zip(*(part.skipped for part in parts), strict=True)))
    return HeadStatistics(
        heads=first.heads, skipped=skipped, cases=Cases.joined([part.cases for part in parts]), **plain
    )


class _Placed:
    """The words of one padded batch among its tokens."""

    def __init__(self, sentences: Sequence[Sentence], encodings: Sequence[Encoding]) -> None:
        self.sentences, self.encodings = sentences, encodings
        self.n_words = max(1, *map(len, sentences))
        self.word_of = np.full((len(sentences), max(map(len, encodings))), -1, dtype=np.int64)
        for row, (sentence, encoding) in enumerate(zip(sentences, encodings, strict=True)):
            self.word_of[row, : len(encoding)] = word_of_token(encoding, sentence.spans)
        self.placed = (self.word_of[..., None] == np.arange(self.n_words)).any(axis=1)  # (texts, words)
        self.queries = [
            (row, query)
            for row, sentence in enumerate(sentences)
            for query in relation_queries(sentence, self.placed[row])
        ]

    def between(self, weights: Array) -> Array:
        """Attention between words, nothing between a word and itself: see ``between_words``."""
        return hide_trivial(between_words(weights, self.word_of, self.n_words), self.placed)

    def cases(self, queries: Sequence[tuple[int, RelationQuery]], right: BoolArray) -> Cases:
        rows = [row for row, _ in queries]
        numbers = np.array([sentence.number for sentence in self.sentences])
        units = np.array([sentence.unit for sentence in self.sentences])
        n_words, without_rows = self.placed.sum(axis=1), [query for _, query in queries]
        return Cases.build(without_rows, right, numbers[rows], n_words[rows], units[rows])

    @property
    def frames(self) -> IntArray | None:
        """The frame of each sentence (texts,); None where they are by themselves."""
        if any(sentence.frame is None for sentence in self.sentences):
            return None
        return np.array([sentence.unit for sentence in self.sentences])


def _partners(queries: Sequence[tuple[int, RelationQuery]]) -> IntArray:
    """The partners of each case, (cases, most), -1 where there are fewer."""
    most = max((len(query.partners) for _, query in queries), default=1)
    return np.array([[*query.partners, *[-1] * (most - len(query.partners))] for _, query in queries]).reshape(-1, most)


class Layer(NamedTuple):
    """What was measured of one layer: sums over each text's queries (texts, heads, names) of ``NAMES``, over how many
    (texts, names), and the rest as in ``HeadStatistics``.
    """

    sums: DoubleArray
    counts: DoubleArray
    uniform: DoubleArray
    chance: DoubleArray
    right: BoolArray
    edges: IntArray
    strongest: Strongest


class BatchMeasurer:
    """One padded batch of sentences, measured a layer at a time (``layer``), in any order and by several threads;
    ``statistics`` puts the layers together.
    """

    def __init__(self, sentences: Sequence[Sentence], encodings: Sequence[Encoding]) -> None:
        self._placed = _Placed(sentences, encodings)
        rare, listed = (
            [
                None if sentence.rare[which] is None else of_token[: len(encoding)] == sentence.rare[which]
                for sentence, encoding, of_token in zip(sentences, encodings, self._placed.word_of, strict=True)
            ]
            for which in (0, 1)
        )
        marks = Marks.build(encodings, rare, listed)
        self._counted = counted_keys(marks, marks)
        self._rows = np.array([row for row, _ in self._placed.queries], dtype=np.int64)
        self._queries = np.array([query.query for _, query in self._placed.queries], dtype=np.int64)
        self._partners = _partners(self._placed.queries)
        self._find_trees()

    def layer(self, weights: Array, norms: Array | None) -> Layer:
        """Measure a layer's attention (texts, heads, n, n); ``norms`` (texts, heads, n) weigh each key's value. Where
        both are tensors, the work is done on their device, and what is kept comes back.
        """
        placed = self._placed
        sums = self._counted.sums(weights, norms)
        by_value, of_shares = sums.by_value, sums.counts[:, [MEASURE_NAMES.index(share) for share in SHARES]]
        if by_value is None:
            by_value, of_shares = np.zeros((*weights.shape[:2], len(SHARES))), np.zeros(of_shares.shape)

        between = placed.between(weights)
        partner = in_memory(between.argmax(axis=-1))  # (texts, words, heads)
        looked_at = partner[self._rows, self._queries]  # (cases, heads)
        highest = in_memory(namespace(between).amax(between, axis=-1))
        return Layer(
            sums=np.concatenate([sums.sums[:, :-1], by_value], axis=2),
            counts=np.concatenate([sums.counts, of_shares], axis=1),
            uniform=sums.sums[:, -1].sum(axis=0),
            chance=sums.chance,
            right=(looked_at[..., None] == self._partners[:, None]).any(axis=-1),
            edges=edges_found(between, self._tree_words, self._gold),
            strongest=strongest_pairs(highest, partner, placed.placed),
        )

    def statistics(self, layers: Sequence[Layer]) -> HeadStatistics:
        """What was measured, from all layers in their order."""
        placed = self._placed
        numbers = np.array([sentence.number for sentence in placed.sentences], dtype=np.int64)
        right = np.concatenate([layer.right for layer in layers], axis=1)
        n_gold = self._gold.sum(axis=(1, 2))[:, None] // 2
        of_layers = [layer.strongest for layer in layers]
        strongest = Strongest(*(np.concatenate(arrays, axis=1) for arrays in zip(*of_layers, strict=True)))
        edges = np.concatenate([layer.edges for layer in layers], axis=1)
        heads = tuple(layer.sums.shape[1] for layer in layers)
        sums = np.concatenate([layer.sums for layer in layers], axis=1)
        counts = np.repeat(np.stack([layer.counts for layer in layers], axis=1), heads, axis=1)
        return HeadStatistics(
            heads=heads,
            n_texts=len(numbers),
            n_tokens=sum(map(len, placed.encodings)),
            n_queries=int(self._counted.queries.sum()),
            skipped=self._skipped_counts(),
            moments=Moments.from_sums(sums, counts, placed.frames),
            uniform=np.array([layer.uniform for layer in layers]),
            chance=np.array([layer.chance for layer in layers]),
            cases=placed.cases(placed.queries, right),
            edges=Moments.from_sums(edges.astype(np.float64), n_gold, placed.frames),
            chain=Moments.from_sums(self._chain[:, None].astype(np.float64), n_gold, placed.frames),
            examples=Examples.from_pairs(strongest, numbers),
        )

    def _find_trees(self) -> None:
        """The gold edges of trees whose words all have tokens, punctuation left out (texts, words, words); the words
        that such a tree spans (texts, words), and how many of its edges link neighbours (texts,).
        """
        placed = self._placed
        shape = len(placed.sentences), placed.n_words
        self._gold = np.zeros((*shape, shape[1]), dtype=bool)
        self._tree_words = np.zeros(shape, dtype=bool)
        self._chain = np.zeros(shape[0], dtype=np.int64)
        self._trees_left_out = 0
        for row, sentence in enumerate(placed.sentences):
            if not any(head >= 0 for head in sentence.heads):
                continue
            counted = [
                place
                for place, (word, upos) in enumerate(zip(sentence.words, sentence.upos, strict=True))
                if not is_punctuation(word, upos)
            ]
            if not placed.placed[row, counted].all():
                self._trees_left_out += 1
                continue
            within = set(counted)
            for place in counted:
                head = sentence.heads[place]
                if head in within:
                    self._gold[row, place, head] = self._gold[row, head, place] = True
            self._tree_words[row, counted] = True
            self._chain[row] = sum(self._gold[row, first, second] for first, second in pairwise(counted))

    def _skipped_counts(self) -> SkippedCounts:
        placed = self._placed
        dropped = [encoding.n_dropped for encoding in placed.encodings if encoding.n_dropped]
        n_missing = np.array([*map(len, placed.sentences)]) - placed.placed.sum(axis=1)
        incomplete = [(sentence, placed.placed[row]) for row, sentence in enumerate(placed.sentences) if n_missing[row]]
        lost = sum(
            len(_upward_queries(sentence, np.ones(len(sentence), dtype=bool))) - len(_upward_queries(sentence, there))
            for sentence, there in incomplete
        )
        return SkippedCounts(len(dropped), sum(dropped), int(n_missing.sum()), lost, self._trees_left_out)


def _upward_queries(sentence: Sentence, placed: BoolArray) -> list[RelationQuery]:
    """The relations of a sentence, once each."""
    return [query for query in relation_queries(sentence, placed) if query.relation.direction == "up"]


@dataclass(frozen=True, slots=True)
class HeadSets:
    """Sets of heads (layer, head) to be tried on a relation: each looks where the mean of its heads' attention is."""

    deprel: str
    direction: Direction
    groups: tuple[tuple[tuple[int, int], ...], ...] = field(repr=False)

    @property
    def relation(self) -> Relation:
        return Relation(self.deprel, self.direction)


class HeadSetAverager:
    """One padded batch of sentences in which sets of heads look together: the cases of each relation say which of its
    sets are right instead of which head is.
    """

    def __init__(self, sentences: Sequence[Sentence], encodings: Sequence[Encoding], tried: Sequence[HeadSets]) -> None:
        self._placed, self._tried = _Placed(sentences, encodings), tried
        self._queries = [
            [
                (row, query)
                for row, query in self._placed.queries
                if query.relation == sets.relation or (sets.relation == ALL and query.relation.direction == "up")
            ]
            for sets in tried
        ]
        self._summed: list[Array] = [
            np.zeros((len(queries), len(sets.groups), self._placed.n_words), dtype=np.float32)
            for queries, sets in zip(self._queries, tried, strict=True)
        ]

    def layer(self, layer: int, weights: Array) -> None:
        """A layer's attention (texts, heads, n, n), as in ``BatchMeasurer``."""
        between = self._placed.between(weights)
        for place, (queries_of_sets, sets) in enumerate(zip(self._queries, self._tried, strict=True)):
            heads = sorted({head for group in sets.groups for of, head in group if of == layer})
            if not heads or not queries_of_sets:
                continue
            rows, queries = [row for row, _ in queries_of_sets], [case.query for _, case in queries_of_sets]
            looked = between[rows, queries][:, heads]  # (cases, heads, words)
            shares = np.array(
                [[((layer, head) in group) / len(group) for head in heads] for group in sets.groups], dtype=np.float32
            )
            self._summed[place] = beside(self._summed[place], looked) + beside(shares, looked) @ looked

    def cases(self) -> tuple[Cases, ...]:
        """Which sets are right, a relation each, once all layers were there."""
        cases = []
        for queries, summed in zip(self._queries, self._summed, strict=True):
            right = (in_memory(summed.argmax(axis=-1))[..., None] == _partners(queries)[:, None]).any(axis=-1)
            cases.append(self._placed.cases(queries, right))
        return tuple(cases)
