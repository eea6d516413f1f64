"""From token arrays to training batches: next-sentence pairs, single texts, and masking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model_zoo.errors import InvalidInput
from model_zoo.types import BoolArray, DoubleArray, IntArray
from training.corpus import TokenCorpus

IS_NEXT, IS_RANDOM, NO_PAIR = 0, 1, -100
"""Labels of next-sentence prediction: BERT's two classes, and the index cross-entropy ignores."""

FIRST_TEXT_SHARE = (0.3, 0.7)
"""Between these shares of a pair's tokens go to its first text."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of batch: ``length`` tokens per row, drawn with weight ``share``.

    ``pairs`` is the share of rows that hold two texts. In a share ``short`` of the rows a text is one
    sentence; in the others the texts fill the row.
    """

    length: int
    share: float
    pairs: float
    short: float = 0.0


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """Ids of the tokens with a role, and which ids are special at all: bool (vocabulary,)."""

    cls: int
    sep: int
    mask: int
    pad: int
    is_special: BoolArray

    @property
    def ordinary(self) -> IntArray:
        return np.flatnonzero(~self.is_special)


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts as the model reads them, before masking; all (rows, length), ``next_label`` (rows,)."""

    ids: IntArray
    segments: IntArray
    attention: IntArray
    next_label: IntArray


@dataclass(frozen=True, slots=True)
class Masked:
    """``ids`` with the chosen tokens hidden, and which were ``chosen``; both (rows, length)."""

    ids: IntArray
    chosen: BoolArray


def mask_tokens(ids: IntArray, special: SpecialTokens, rate: float, rng: np.random.Generator) -> Masked:
    """Choose each ordinary token with probability ``rate``; hide the chosen ones as BERT does.

    Of the chosen, 80% become [MASK], 10% a random ordinary token, 10% stay (Devlin et al. 2019, section 3.1).
    """
    chosen = (rng.random(ids.shape) < rate) & ~special.is_special[ids]
    fate = rng.random(ids.shape)
    random_ids = rng.choice(special.ordinary, size=ids.shape)
    hidden = np.where(chosen & (fate < 0.8), special.mask, ids)
    hidden = np.where(chosen & (fate >= 0.8) & (fate < 0.9), random_ids, hidden)
    return Masked(hidden, chosen)


class Sampler:
    """Draws rows from a corpus: documents by length times the weight of their group, positions uniformly.

    Raises InvalidInput when pairs are asked for and fewer than two documents can give them.
    """

    def __init__(
        self,
        corpus: TokenCorpus,
        weights: Mapping[str, float],
        special: SpecialTokens,
        shapes: Sequence[Shape],
    ) -> None:
        self._corpus = corpus
        self._special = special
        by_group = np.asarray([weights.get(group, 1.0) for group in corpus.groups])
        weight = corpus.document_lengths * by_group[corpus.group]
        self._any = self._cumulative(weight)
        pairable = corpus.ordered & (corpus.sentence_counts >= 2)
        if any(shape.pairs > 0 for shape in shapes) and pairable.sum() < 2:
            raise InvalidInput(
                f"The corpus holds {pairable.sum()} ordered document(s) of two sentences or more; "
                "pairs for next-sentence prediction need at least two such documents. Mark documents of running text "
                'with "ordered": true, or use a recipe without next-sentence prediction.'
            )
        self._ordered = self._cumulative(np.where(pairable, weight, 0.0))

    @staticmethod
    def _cumulative(weight: DoubleArray) -> DoubleArray:
        total = np.cumsum(weight, dtype=np.float64)
        return total / total[-1] if total[-1] > 0 else total

    @staticmethod
    def _draw(cumulative: DoubleArray, rng: np.random.Generator) -> int:
        return int(np.searchsorted(cumulative, rng.random(), side="right"))

    def _tokens(self, first: int, stop: int) -> IntArray:
        """The tokens of the sentences ``first`` to ``stop - 1``."""
        bounds = self._corpus.sentences
        return self._corpus.ids[bounds[first] : bounds[stop]].astype(np.int64)

    def _n_fitting(self, first: int, stop: int, room: int) -> int:
        """How many whole sentences of ``first`` to ``stop - 1`` fit into ``room`` tokens; at least one."""
        bounds = self._corpus.sentences
        ends = bounds[first + 1 : stop + 1]
        return max(1, int(np.searchsorted(ends, bounds[first] + room, side="right")))

    def _pair(self, room: int, short: bool, rng: np.random.Generator) -> tuple[IntArray, IntArray, int]:
        """Two texts of at most ``room`` tokens together, and whether the second follows the first (half do).

        Both kinds of second text are cut by the same rule, so that their lengths tell nothing. A first text
        that is too long loses its beginning, so that the two still meet where one sentence ends.
        """
        bounds = self._corpus.documents
        document = self._draw(self._ordered, rng)
        begin, end = int(bounds[document]), int(bounds[document + 1])
        first_room = max(1, int(room * rng.uniform(*FIRST_TEXT_SHARE)))
        start = int(rng.integers(begin, end - 1))
        first_stop = start + (1 if short else self._n_fitting(start, end - 1, first_room))
        first = self._tokens(start, first_stop)[-first_room:]
        if rng.random() < 0.5:
            where, stop, label = first_stop, end, IS_NEXT
        else:
            other = document
            while other == document:
                other = self._draw(self._ordered, rng)
            stop = int(bounds[other + 1])
            where, label = int(rng.integers(bounds[other] + 1, stop)), IS_RANDOM
        second = self._tokens(where, where + 1 if short else stop)
        return first, second[: room - len(first)], label

    def _single(self, room: int, short: bool, rng: np.random.Generator) -> IntArray:
        bounds = self._corpus.documents
        document = self._draw(self._any, rng)
        start = int(rng.integers(bounds[document], bounds[document + 1]))
        return self._tokens(start, start + 1 if short else int(bounds[document + 1]))[:room]

    def rows(self, shape: Shape, n_rows: int, rng: np.random.Generator) -> Rows:
        """``n_rows`` rows: [CLS] first [SEP] second [SEP], or [CLS] text [SEP], padded at the right."""
        ids = np.full((n_rows, shape.length), self._special.pad, dtype=np.int64)
        segments = np.zeros_like(ids)
        attention = np.zeros_like(ids)
        next_label = np.full(n_rows, NO_PAIR, dtype=np.int64)
        cls, sep = [self._special.cls], [self._special.sep]
        for row in range(n_rows):
            short = rng.random() < shape.short
            if rng.random() < shape.pairs:
                first, second, next_label[row] = self._pair(shape.length - 3, short, rng)
                tokens = np.concatenate([cls, first, sep, second, sep])
                segments[row, len(first) + 2 : len(tokens)] = 1
            else:
                tokens = np.concatenate([cls, self._single(shape.length - 2, short, rng), sep])
            ids[row, : len(tokens)] = tokens
            attention[row, : len(tokens)] = 1
        return Rows(ids, segments, attention, next_label)
