"""Relations between words, and the heads that find them: chosen on one half of the sentences, judged on the other.
Halves are of frames or documents where these are known, else of sentences (``Corpus.unit``), and drawn ten times.

A case is a word of a sentence, a relation and a direction: from a dependent to its head ("up"), or from a head to its
dependents of this relation ("down"), any of which counts. A head is right where the word it looks at most, itself and
special tokens left out, is such a partner (Clark et al. 2019, whose heads are chosen and judged on the same sentences).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.corpus.moments import Moments
from analysis.corpus.sentences import Sentence, is_judged
from analysis.intervals import wilson
from analysis.paired import holm, paired_p
from model_zoo.types import BoolArray, DoubleArray, FloatArray, IntArray, Shows, counted

Direction = Literal["up", "down"]
DIRECTIONS: Final[tuple[Direction, ...]] = ("up", "down")

OFFSETS: Final = tuple(offset for offset in range(-10, 11) if offset)
"""The fixed offsets that a head is held against, in words."""

_BIT: Final = {offset: 1 << place for place, offset in enumerate(OFFSETS)}

FEWEST: Final = 10
"""Cases in each half below which nothing is said of a relation."""

N_SPLITS: Final = 10
"""Times that a corpus is halved; the first is shown, with its intervals and tests."""

MOST_IN_ENSEMBLE: Final = 4
_AMONG: Final = 6  # the best heads of the half that chooses, of which ensembles are made
_DRAWS: Final = 2000
_BLOCK: Final = 200  # draws at a time: 10,000 sentences take 16 MB
_AT_ONCE: Final = 8192  # cases unpacked at a time: 144 heads take 5 MB
_SEED: Final = 35
_LEFT_OUT = frozenset({"_", "punct", "root"})


class Relation(NamedTuple):
    """A universal relation and where a head looks from."""

    deprel: str
    direction: Direction


class RelationQuery(NamedTuple):
    """One case of a sentence: the places of the word that looks and of its partners."""

    relation: Relation
    query: int
    partners: tuple[int, ...]

    @property
    def nearest(self) -> int:
        """The partner that is nearest, the first of two."""
        return min(self.partners, key=lambda place: abs(place - self.query))

    @property
    def offsets(self) -> int:
        """Which of ``OFFSETS`` lead from the word to one of its partners, as bits."""
        return sum(_BIT.get(offset, 0) for offset in {partner - self.query for partner in self.partners})


def relation_queries(sentence: Sentence, placed: BoolArray) -> Iterator[RelationQuery]:
    """The cases of a sentence between words that are ``placed`` (words,) among a model's tokens; punctuation and the
    root's own relation are left out.
    """
    below: dict[tuple[int, str], list[int]] = {}
    for place, (head, deprel) in enumerate(zip(sentence.heads, sentence.deprel, strict=True)):
        if head < 0 or deprel in _LEFT_OUT or not (placed[place] and placed[head]):
            continue
        yield RelationQuery(Relation(deprel, "up"), place, (head,))
        below.setdefault((head, deprel), []).append(place)
    for (head, deprel), dependents in below.items():
        yield RelationQuery(Relation(deprel, "down"), head, tuple(dependents))


@dataclass(frozen=True, slots=True)
class Cases(Shows):
    """Cases of many sentences, in no order that means anything: an entry each.

    ``names`` are the relations, ``relation`` (cases,) says which; ``sentence`` its number, ``unit`` as
    ``Sentence.unit``; ``query`` and ``key`` the places of the word and of its nearest partner, ``offsets`` as in
    ``RelationQuery``, ``chance`` how often a word drawn at random is a partner, ``right`` (cases, bytes) which heads
    are right, packed as ``numpy.packbits`` does.
    """

    names: tuple[Relation, ...] = field(repr=False)
    n_heads: int
    relation: IntArray = field(repr=False)
    sentence: IntArray = field(repr=False)
    unit: IntArray = field(repr=False)
    query: IntArray = field(repr=False)
    key: IntArray = field(repr=False)
    offsets: IntArray = field(repr=False)
    chance: FloatArray = field(repr=False)
    right: npt.NDArray[np.uint8] = field(repr=False)

    @classmethod
    def build(
        cls,
        queries: Sequence[RelationQuery],
        right: BoolArray,
        sentence: IntArray,
        n_words: IntArray,
        unit: IntArray | None = None,
    ) -> Cases:
        """Put together from cases, which heads are right (cases, heads), and of each case (cases,) its sentence's
        number, how many of its words are placed, and its unit, the sentence if nothing is given.
        """
        names = tuple(sorted({query.relation for query in queries}))
        number = {name: place for place, name in enumerate(names)}
        n_partners: IntArray = np.array([len(query.partners) for query in queries], dtype=np.int64)
        return cls(
            names=names,
            n_heads=right.shape[1],
            relation=np.array([number[query.relation] for query in queries], dtype=np.uint16),
            sentence=sentence.astype(np.int32),
            unit=(sentence if unit is None else unit).astype(np.int32),
            query=np.array([query.query for query in queries], dtype=np.uint16),
            key=np.array([query.nearest for query in queries], dtype=np.uint16),
            offsets=np.array([query.offsets for query in queries], dtype=np.uint32),
            chance=(n_partners / np.maximum(n_words - 1, 1)).astype(np.float32),
            right=np.packbits(right, axis=1),
        )

    def __len__(self) -> int:
        return len(self.relation)

    def __repr__(self) -> str:
        return f"<Cases {counted(len(self), 'case')} of {counted(len(self.names), 'relation')}>"

    def to_frame(self) -> pd.DataFrame:
        """One row a case: relation, direction, sentence, judged, query, key, chance, and how many heads are right."""
        names = [self.names[place] for place in self.relation]
        return pd.DataFrame(
            {
                "relation": [name.deprel for name in names],
                "direction": [name.direction for name in names],
                "sentence": self.sentence,
                "judged": self.judged,
                "query": self.query,
                "key": self.key,
                "chance": self.chance,
                "heads_right": self.heads_right().sum(axis=1),
            }
        )

    @classmethod
    def joined(cls, parts: Sequence[Cases]) -> Cases:
        """The cases of all parts, which are of the same heads."""
        names = tuple(sorted({name for part in parts for name in part.names}))
        number = {name: place for place, name in enumerate(names)}
        relation = [
            np.array([number[name] for name in part.names], dtype=np.uint16)[part.relation]
            if len(part)
            else part.relation
            for part in parts
        ]
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS[1:]}
        return cls(names, parts[0].n_heads, np.concatenate(relation), **arrays)

    @property
    def n_bytes(self) -> int:
        """What its arrays take."""
        return sum(getattr(self, name).nbytes for name in _ARRAYS)

    def where(self, chosen: BoolArray) -> Cases:
        """Some of them (cases,)."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _ARRAYS})

    def select(self, relation: Relation) -> Cases:
        """Those of one relation, in the order of the corpus; of ``ALL`` those of every relation from below."""
        if relation == ALL:
            up = np.array([name.direction == "up" for name in self.names], dtype=bool)
            selected = self.where(up[self.relation] if len(self) else np.zeros(0, dtype=bool))
        elif relation in self.names:
            selected = self.where(self.relation == self.names.index(relation))
        else:
            selected = self.where(np.zeros(len(self), dtype=bool))
        order = np.lexsort((selected.query, selected.sentence))
        return selected.where(order)  # type: ignore[arg-type]

    @property
    def judged(self) -> BoolArray:
        """Which are of the half that judges, (cases,)."""
        return is_judged(self.unit)

    def n_right(self, some: BoolArray) -> DoubleArray:
        """In how many of ``some`` (n, cases) each head is right, (n, heads)."""
        counts = np.zeros((len(some), self.n_heads))
        for start in range(0, len(self), _AT_ONCE):
            right = np.unpackbits(self.right[start : start + _AT_ONCE], axis=1, count=self.n_heads)
            counts += some[:, start : start + _AT_ONCE].astype(np.float32) @ right.astype(np.float32)
        return counts

    def heads_right(self) -> BoolArray:
        """Which heads are right, (cases, heads)."""
        return np.unpackbits(self.right, axis=1, count=self.n_heads).astype(bool)

    def offsets_right(self) -> BoolArray:
        """Which of ``OFFSETS`` are right, (cases, offsets)."""
        return (self.offsets[:, None] >> np.arange(len(OFFSETS)) & 1).astype(bool)


_ARRAYS: Final = ("relation", "sentence", "unit", "query", "key", "offsets", "chance", "right")
ALL: Final = Relation("all", "up")
"""Every relation, from the dependent."""


def layers_and_heads(n_heads: Sequence[int]) -> tuple[IntArray, IntArray]:
    """The layer and the number of every head, both from 0, (heads of all layers,) each, of the heads of each layer."""
    layers = np.repeat(np.arange(len(n_heads)), n_heads)
    heads = np.concatenate([np.arange(n) for n in n_heads]) if n_heads else np.zeros(0, dtype=np.int64)
    return layers, heads


def shares_right(cases: Cases) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
    """The share of cases in which each head is right, and the ends of its 95% interval, (heads,) each; nan without
    cases, and for intervals with those of one unit alone. ``cases`` are those of one relation, and of the half that
    judges where a head was chosen on the other.
    """
    order = np.argsort(cases.unit, kind="stable")
    numbers, starts, sizes = np.unique(cases.unit[order], return_index=True, return_counts=True)
    if len(numbers):
        sums = np.add.reduceat(cases.heads_right()[order].astype(np.float64), starts, axis=0)
    else:
        sums = np.zeros((0, cases.n_heads))
    moments = Moments.from_sums(sums, sizes[:, None].astype(np.float64))
    return moments.means, *moments.intervals(shares=True)


@dataclass(frozen=True, slots=True)
class Share(Shows):
    """How often something is right, with its 95% interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread(Shows):
    """What comes of halving a corpus ``n`` times: the head that is best on one half is right in ``lowest`` to
    ``highest`` of the cases of the other, and ``n_same`` times it is that of the first halving.
    """

    lowest: float
    highest: float
    n_same: int
    n: int

    @classmethod
    def over_splits(cls, choosing: DoubleArray, judged: DoubleArray) -> Spread:
        """From how often each head is right on the two halves of each halving, (halvings, heads) each."""
        heads = choosing.argmax(axis=1)
        reached = judged[np.arange(len(heads)), heads]
        return cls(float(reached.min()), float(reached.max()), int((heads == heads[0]).sum()), len(heads))


@dataclass(frozen=True, slots=True)
class RelationResult(Shows):
    """One relation and the head that finds it best.

    ``head`` is a place among all heads, layer by layer; it and the ``offset`` are the best on the ``n_choosing`` cases
    of one half, and judged on the ``n_judged`` cases of ``n_sentences`` sentences of the other. ``choosing`` and
    ``judged`` (heads,) are how often each head is right on each half. ``chance`` is how often a word drawn at random is
    right, ``spread`` what those halvings give that leave each half ``FEWEST`` cases. ``p`` is how likely the head would
    do better than the offset by so much if both were as good as each other (``paired_p``, one-sided, over the units of
    the halves), corrected for the number of relations (Holm 1979).
    """

    relation: Relation
    n_choosing: int
    n_judged: int
    n_sentences: int
    head: int
    accuracy: Share
    spread: Spread
    offset: int
    by_offset: Share
    chance: float
    p: float
    choosing: DoubleArray = field(repr=False)
    judged: DoubleArray = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row: relation, direction, place of the head, how often it is right (low to high, and from the lowest to
        the highest of ``splits`` halvings, which choose the ``same_head`` so often), and the comparisons.
        """
        return pd.DataFrame(
            [
                {
                    "relation": self.relation.deprel,
                    "direction": self.relation.direction,
                    "place": self.head,
                    "right": self.accuracy.share,
                    "low": self.accuracy.low,
                    "high": self.accuracy.high,
                    "lowest": self.spread.lowest,
                    "highest": self.spread.highest,
                    "same_head": self.spread.n_same,
                    "splits": self.spread.n,
                    "words": self.n_judged,
                    "sentences": self.n_sentences,
                    "offset": self.offset,
                    "offset_right": self.by_offset.share,
                    "offset_low": self.by_offset.low,
                    "offset_high": self.by_offset.high,
                    "chance": self.chance,
                    "p": self.p,
                }
            ]
        )


@dataclass(frozen=True, slots=True)
class Findings(Shows):
    """What is found of each relation, those with most cases first; ``too_few`` are relations with fewer than ``FEWEST``
    cases in a half, with how many they have in all.
    """

    relations: tuple[RelationResult, ...] = field(repr=False)
    too_few: tuple[tuple[Relation, int], ...] = field(repr=False)

    def get(self, relation: Relation) -> RelationResult | None:
        return next((result for result in self.relations if result.relation == relation), None)

    def to_frame(self) -> pd.DataFrame:
        """One row a relation, as ``RelationResult.to_frame``; the place of a head is that among all heads."""
        frames = [result.to_frame() for result in self.relations]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def findings(cases: Cases, n_splits: int = N_SPLITS) -> Findings:
    """Choose the best head and offset of every relation and direction on one half, and judge them on the other. What
    the spread is over are halvings by the seeds 0 to ``n_splits`` - 1; all else is by the first.
    """
    units = np.arange(cases.unit.max(initial=-1) + 1)
    halves = np.stack([is_judged(units, seed) for seed in range(n_splits)])
    up = np.array([name.direction == "up" for name in cases.names], dtype=bool)
    every = [(ALL, up[cases.relation])] if len(cases) else []
    rows: list[RelationResult] = []
    hits: list[tuple[BoolArray, IntArray]] = []
    too_few, p_values = [], []
    for relation, chosen in [*every, *((name, cases.relation == at) for at, name in enumerate(cases.names))]:
        some = cases.where(chosen)
        judging = halves[:, some.unit]
        n_judging = judging.sum(axis=1)
        enough = np.minimum(n_judging, len(some) - n_judging) >= FEWEST
        if not enough[0]:
            too_few.append((relation, len(some)))
            continue
        judging, n_judging = judging[enough], n_judging[enough, None]
        n_all, *n_right = some.n_right(np.vstack([np.ones(len(some), dtype=bool), judging]))
        judged, choosing = n_right / n_judging, (n_all - n_right) / (len(some) - n_judging)
        choosers, judges = some.where(~judging[0]), some.where(judging[0])
        head, offset = int(choosing[0].argmax()), int(choosers.offsets_right().mean(axis=0).argmax())
        of_head, of_offset, unit = judges.heads_right()[:, head], judges.offsets_right()[:, offset], judges.unit
        hits += [(of_head, unit), (of_offset, unit)]
        p_values.append(paired_p(of_head, of_offset, unit, one_sided=True))
        unknown = Share(0, 0, 0)
        rows.append(
            RelationResult(
                relation=relation,
                n_choosing=len(choosers),
                n_judged=len(judges),
                n_sentences=len(np.unique(judges.sentence)),
                head=head,
                accuracy=unknown,
                spread=Spread.over_splits(choosing, judged),
                offset=OFFSETS[offset],
                by_offset=unknown,
                chance=float(judges.chance.mean()),
                p=1.0,
                choosing=choosing[0],
                judged=judged[0],
            )
        )
    shares = bootstrap(hits)
    results = [
        replace(row, accuracy=accuracy, by_offset=by, p=p)
        for row, accuracy, by, p in zip(rows, shares[::2], shares[1::2], holm(p_values), strict=True)
    ]
    results.sort(key=lambda row: (row.relation != ALL, -row.n_judged, row.relation))
    too_few.sort(key=lambda relation_and_count: (-relation_and_count[1], relation_and_count[0]))
    return Findings(tuple(results), tuple(too_few))


def bootstrap(samples: Sequence[tuple[BoolArray, IntArray]], draws: int = _DRAWS, seed: int = _SEED) -> list[Share]:
    """Of each the share of cases that are right, with the interval between the 2.5 and the 97.5% of what is found where
    units (sentences, documents or frames) are drawn with replacement (Efron 1979); (cases,) right and the number of the
    unit. All have the same draws. Where all cases are right, or none is, draws do not differ: there it is Wilson's for
    so many units.
    """
    if not samples:
        return []
    numbers = np.unique(np.concatenate([unit for _, unit in samples]))
    n = len(numbers)
    sums = np.zeros((n, 2 * len(samples)))  # right and all cases of each unit
    for column, (right, unit) in enumerate(samples):
        place = np.searchsorted(numbers, unit)
        sums[:, 2 * column] = np.bincount(place, weights=right.astype(np.float64), minlength=n)
        sums[:, 2 * column + 1] = np.bincount(place, minlength=n)
    rng = np.random.default_rng(seed)
    blocks = []
    for start in range(0, draws, _BLOCK):
        block = min(_BLOCK, draws - start)
        drawn = rng.integers(n, size=(block, n)) + n * np.arange(block)[:, None]
        often = np.bincount(drawn.reshape(-1), minlength=block * n).reshape(block, n)
        blocks.append(often @ sums)
    drawn_sums = np.concatenate(blocks)
    shares = []
    for column, (right, unit) in enumerate(samples):
        share = float(right.mean())
        hits, size = drawn_sums[:, 2 * column], drawn_sums[:, 2 * column + 1]
        if share in (0.0, 1.0):
            shares.append(Share(share, *wilson(share, len(np.unique(unit)))))
        else:
            low, high = np.quantile(hits[size > 0] / size[size > 0], [0.025, 0.975])
            shares.append(Share(share, float(low), float(high)))
    return shares


Group = tuple[int, ...]
"""Heads, by their places among all heads, whose attention is averaged."""


def ensembles(result: RelationResult) -> tuple[Group, ...]:
    """The sets of two to four of the heads that are best on the half that chooses, and each of these alone; which of
    them is best is for that half to say, too (Limisiewicz et al. 2020).
    """
    best = np.argsort(-result.choosing, kind="stable")[:_AMONG].tolist()
    sizes = range(1, min(MOST_IN_ENSEMBLE, len(best)) + 1)
    return tuple(tuple(sorted(group)) for size in sizes for group in combinations(best, size))


@dataclass(frozen=True, slots=True)
class Ensemble(Shows):
    """The best set of heads of a relation on the half that chooses, and how often it is right on the other."""

    relation: Relation
    heads: Group
    accuracy: Share

    def to_frame(self) -> pd.DataFrame:
        """One row: the relation and its direction, the places of the heads, how often they are right (low to high)."""
        places = " ".join(map(str, self.heads))
        row = {"relation": self.relation.deprel, "direction": self.relation.direction, "places": places}
        share = self.accuracy
        return pd.DataFrame([{**row, "right": share.share, "low": share.low, "high": share.high}])


def best_ensemble(relation: Relation, groups: Sequence[Group], cases: Cases) -> Ensemble | None:
    """Choose and judge groups, the "heads" of the relation's ``cases``. None where there are too few of them."""
    result = findings(cases, 1).get(relation)
    return None if result is None else Ensemble(relation, groups[result.head], result.accuracy)
