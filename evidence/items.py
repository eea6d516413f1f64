"""What heads that are off are tried on, and what is found of it part by part: words, pairs, labelled texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from model_zoo import text as texts
from model_zoo.errors import InvalidInput

Head = tuple[int, int]

LeftOut = Literal["cut", "shared", "unknown", "mask"]
"""Why an item cannot be scored: its word lies beyond the model's limit, shares a token with the word beside it, or is
not in the model's vocabulary; or a mask is in the text already.
"""

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


def check_masked_texts(sentences: Sequence[str], most: int) -> tuple[str, ...]:
    """Raises InvalidInput for texts that are none, too many or empty, and for no mask in each."""
    if not sentences or most < 1:
        raise InvalidInput("There is nothing to mask. Give at least one sentence, and one mask in each.")
    if len(sentences) > MOST_ITEMS:
        raise InvalidInput(f"{len(sentences):,} sentences are more than {MOST_ITEMS:,}. Ask for fewer at a time.")
    for number, text in enumerate(sentences, start=1):
        texts.check(text, f"Sentence {number}")
    return tuple(sentences)
