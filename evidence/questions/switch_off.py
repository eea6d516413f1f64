"""What a model predicts in many sentences with heads switched off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Self, get_args

import numpy as np

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import Streamed, normalize
from model_zoo.types import EQUAL_NATS, FloatArray
from model_zoo.types.arrays import ReadOnly, lock

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel

Head = tuple[int, int]

LeftOut = Literal["cut", "shared", "unknown", "mask"]
"""Why an item cannot be scored: its word lies beyond the model's limit, shares a token with the word beside it, or is
not in the model's vocabulary; or a mask is in the text already.
"""
LEFT_OUT: Final[tuple[LeftOut, ...]] = get_args(LeftOut)

MOST_ITEMS: Final = 1000


@dataclass(frozen=True, slots=True)
class HiddenWord:
    """A text of which the word at the characters ``span`` is hidden, all of its pieces at once. Its score is ln P of
    the word: the sum over its pieces.
    """

    text: str
    span: tuple[int, int]

    @property
    def texts(self) -> tuple[tuple[str, str | None], ...]:
        return ((self.text, None),)


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A right sentence and a wrong one. The score is ln P of the right one less that of the wrong one.

    Where they have as many tokens and differ in one word, that word is hidden and its two fillings are compared;
    otherwise the pseudo-log-likelihoods of both (scheme "word l2r" of ``ScoreTokens``).
    """

    good: str
    bad: str

    @property
    def texts(self) -> tuple[tuple[str, str | None], ...]:
        return (self.good, None), (self.bad, None)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, or a pair of texts, for a classifier. The score is ln P of its ``label``."""

    text: str
    pair: str | None
    label: str

    @property
    def texts(self) -> tuple[tuple[str, str | None], ...]:
        return ((self.text, self.pair),)


Item = HiddenWord | SentencePair | LabelledText


def check_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Raises InvalidInput for items that are none, too many, of several kinds, or without text."""
    if not items:
        raise InvalidInput("There is nothing to score. Give at least one sentence.")
    if len(items) > MOST_ITEMS:
        raise InvalidInput(f"{len(items):,} items are more than {MOST_ITEMS:,}. Ask for fewer at a time.")
    if len({type(item) for item in items}) > 1:
        raise InvalidInput("Hidden words, pairs of sentences and labelled texts have scores of different kinds.")
    for number, item in enumerate(items, start=1):
        for text, pair in item.texts:
            texts.check_pair(text, pair, f"Text {number}")
        if isinstance(item, HiddenWord):
            start, end = item.span
            if not 0 <= start < end <= len(item.text) or not item.text[start:end].strip():
                raise InvalidInput(f"Text {number} has no word at the characters {start} to {end}. Give its place.")
    return tuple(items)


@dataclass(frozen=True, slots=True)
class Part(ReadOnly):
    """What one batch adds to the scores of some ``items`` with the heads of ``which`` set off (0: none), and to how
    many of them had the wanted answer as their best. ``left_out`` are the items that cannot be scored, and why.
    """

    which: int
    items: tuple[int, ...]
    scores: FloatArray
    best: FloatArray
    left_out: tuple[tuple[int, LeftOut], ...] = ()

    def __post_init__(self) -> None:
        lock(self, "scores", "best")


@dataclass(frozen=True, slots=True)
class SwitchedOff(ReadOnly):
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


@dataclass(frozen=True, slots=True)
class SwitchOff(Streamed[Part, SwitchedOff]):
    """The scores of many items with nothing off, and with each of several sets of heads off together.

    Heads are (layer, head) from 0, replaced by zeros at the input of the output projection, as ``Ablate`` does; a set
    runs from the first layer in which it differs from the one before. Raises NotSupported for a model without the head
    that the items need or without heads, InvalidInput for heads that are not there and labels that it does not know.
    """

    remembered = False  # work in the background asks thousands of these, each once

    model: str
    items: tuple[Item, ...]
    sets: tuple[tuple[Head, ...], ...] = ()

    def check(self) -> None:
        sets = tuple(tuple(sorted({(int(layer), int(head)) for layer, head in heads})) for heads in self.sets)
        normalize(self, items=check_items(self.items), sets=sets)

    def parts(self, loaded: LoadedModel) -> Iterator[Part]:
        from evidence.switching import switched_off

        return switched_off(loaded, self)

    def whole(self, parts: Sequence[Part]) -> SwitchedOff:
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
