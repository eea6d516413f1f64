"""What a model predicts in many sentences with heads switched off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from evidence.items import Head, HiddenWord, Item, LeftOut, Part, SentencePair, check_items
from model_zoo.question import Streamed, normalize
from model_zoo.types import EQUAL_NATS, FloatArray, counted
from model_zoo.types.arrays import ReadOnly, lock
from model_zoo.types.shows import DataFrame, Shows, table

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class SwitchedOff(ReadOnly, Shows):
    """Scores (1 + sets, items) in nats: with nothing off, then with each set of heads off; nan for items that were
    ``left_out``, each with the reason.

    ``right`` (1 + sets, items) is 1 where the item is answered rightly: the hidden word is the best guess, the right
    sentence has the higher score (a tie counts half), the label is the most probable.
    """

    scores: FloatArray
    right: FloatArray
    left_out: tuple[tuple[int, LeftOut], ...] = ()

    def __post_init__(self) -> None:
        lock(self, "scores", "right")

    def __repr__(self) -> str:
        sets, items = self.scores.shape
        return f"<SwitchedOff {counted(items, 'item')}, {counted(sets - 1, 'set')} of heads>"

    def to_frame(self) -> DataFrame:
        """One row a set of heads and item: set (0 is nothing off, 1 the first set), item, score (nats), right."""
        which, item = np.indices(self.scores.shape).reshape(2, -1)
        return table({"set": which, "item": item, "score": self.scores.reshape(-1), "right": self.right.reshape(-1)})


@dataclass(frozen=True, slots=True)
class SwitchOff(Streamed[Part, SwitchedOff]):
    """The scores of many items with nothing off, and with each of several sets of heads off together.

    Heads are (layer, head) from 0, replaced by zeros at the input of the output projection, as ``Ablate`` does; a set
    runs from the first layer in which it differs from the one before. Raises NotSupported for a model without the head
    that the items need or without heads, InvalidInput for heads that are not there and labels that it does not know.
    """

    remembered = False  # work in the background asks thousands of these, each once
    full_precision = True

    model: str
    items: tuple[Item, ...]
    sets: tuple[tuple[Head, ...], ...] = ()

    def check(self) -> None:
        sets = tuple(tuple(sorted({(int(layer), int(head)) for layer, head in heads})) for heads in self.sets)
        normalize(self, items=check_items(self.items), sets=sets)

    def parts(self, loaded: LoadedModel) -> Iterator[Part]:
        from evidence.switching import switched_off

        return switched_off(loaded, self)

    def combine(self, parts: Sequence[Part]) -> SwitchedOff:
        n_sets, n = 1 + len(self.sets), len(self.items)
        scores, best = np.zeros((n_sets, n), dtype=np.float64), np.zeros((n_sets, n), dtype=np.float32)
        for part in parts:
            np.add.at(scores[part.which], list(part.items), part.scores)
            np.add.at(best[part.which], list(part.items), part.best)
        left_out = tuple(each for part in parts for each in part.left_out)
        gone = [place for place, _ in left_out]
        if isinstance(self.items[0], SentencePair):
            best = np.where(np.abs(scores) < EQUAL_NATS, 0.5, scores > 0).astype(np.float32)
        scores[:, gone] = best[:, gone] = np.nan
        return SwitchedOff(scores.astype(np.float32), best, left_out)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, (HiddenWord("The cat sat.", (4, 7)),), (((0, 0),),))
