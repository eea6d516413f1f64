"""Of every head sentences to look at: the strongest, and some drawn at random of every strength."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.corpus.between_words import Strongest
from model_zoo.types import FloatArray, IntArray, Shows, counted

TOP: Final = 20
"""The strongest sentences of each head that are kept."""
STEPS: Final = (0.1, 0.3, 0.5, 0.7)
"""What parts the strengths of which each has a sample: below 0.1, 0.1 to 0.3, and so on."""
DRAWN: Final = 5
"""Sentences in each such sample."""
_COLUMNS: Final = ["kept", "sentence", "query", "key", "weight"]


class Example(NamedTuple):
    """A sentence (its number), its strongest pair of words in a head, and how much attention that pair has."""

    sentence: int
    query: int
    key: int
    weight: float


@dataclass(frozen=True, slots=True)
class Examples(Shows):
    """``top`` (heads, at most ``TOP``, 4) and ``drawn`` (heads, steps, at most ``DRAWN``, 4), float32: weight, number
    of the sentence, place of the word that looks and of the word looked at; a number of -1 where there is none.

    A sentence is drawn by a lot that depends on it and the head alone, so that parts measured anywhere and added in any
    order have the same sample (a reservoir without a stream: bottom-k sampling).
    """

    top: FloatArray = field(repr=False)
    drawn: FloatArray = field(repr=False)

    @classmethod
    def from_pairs(cls, pairs: Strongest, sentences: IntArray) -> Examples:
        """Those of some sentences, given by their numbers (texts,); ``pairs`` are (texts, heads)."""
        numbers = np.where(pairs.query >= 0, sentences[:, None], -1)
        rows = np.stack([pairs.weight.T, numbers.T, pairs.query.T, pairs.key.T], axis=-1).astype(np.float32)
        step = np.searchsorted(np.array(STEPS, dtype=np.float32), rows[..., 0], side="right")
        of_steps = np.repeat(rows[:, None], len(STEPS) + 1, axis=1)
        of_steps[..., 1] = np.where(step[:, None] == np.arange(len(STEPS) + 1)[:, None], of_steps[..., 1], -1)
        return cls(rows, of_steps)._kept()

    def __add__(self, other: Examples) -> Examples:
        return Examples(
            np.concatenate([self.top, other.top], axis=1), np.concatenate([self.drawn, other.drawn], axis=2)
        )._kept()

    def __repr__(self) -> str:
        return f"<Examples of {counted(len(self.top), 'head')}>"

    def to_frame(self) -> pd.DataFrame:
        """One row an example: place (of the head among all), and what ``head_frame`` has."""
        rows = [(place, *row) for place in range(len(self.top)) for row in self._rows(place)]
        return pd.DataFrame(rows, columns=["place", *_COLUMNS])

    def head_frame(self, head: int) -> pd.DataFrame:
        """One row an example of a head (its place among all): kept ("strongest", or "drawn" of a step of strength),
        sentence (its number), query and key (places of the words), weight; from strong to weak.
        """
        return pd.DataFrame(self._rows(head), columns=_COLUMNS)

    def _rows(self, head: int) -> list[tuple[str, int, int, int, float]]:
        strongest = [("strongest", *example) for example in self.strongest(head)]
        return strongest + [("drawn", *example) for step in self.sample(head) for example in step]

    def _kept(self) -> Examples:
        number = self.top[..., 1]
        best = np.lexsort((number, -self.top[..., 0], number < 0), axis=1)[:, :TOP]
        number = self.drawn[..., 1]
        first = np.lexsort((_lots(number), number < 0), axis=2)[..., :DRAWN]
        return Examples(
            np.take_along_axis(self.top, best[..., None], axis=1),
            np.take_along_axis(self.drawn, first[..., None], axis=2),
        )

    def strongest(self, head: int) -> list[Example]:
        """The strongest sentences of a head (its place among all), best first."""
        return _listed(self.top[head])

    def sample(self, head: int) -> list[list[Example]]:
        """The sentences drawn of a head, a list for each step of strength, from strong to weak."""
        return [_listed(rows) for rows in self.drawn[head][::-1]]


def _lots(numbers: FloatArray) -> npt.NDArray[np.uint64]:
    """A number by chance for each head (the first axis) and sentence: the mixing of SplitMix64 (Steele et al. 2014)."""
    heads = np.arange(len(numbers), dtype=np.uint64).reshape(-1, *[1] * (numbers.ndim - 1))
    with np.errstate(over="ignore"):
        mixed = (np.maximum(numbers, 0).astype(np.uint64) << np.uint64(20)) + heads + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _listed(rows: FloatArray) -> list[Example]:
    examples = [Example(int(number), int(query), int(key), float(weight)) for weight, number, query, key in rows]
    return [
        example
        for example in sorted(examples, key=lambda example: (-example.weight, example.sentence))
        if example.sentence >= 0
    ]
