"""How the sets are written: texts in files, templates with slots, and decks of words to fill them from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from training.finetuning.data import SPLITS, Split

T = TypeVar("T")

_SEED = 15


def generator(split: Split) -> np.random.Generator:
    """The random numbers that a set draws the items of a split by: always the same."""
    return np.random.default_rng((_SEED, SPLITS.index(split)))


def tables(name: str) -> dict[str, Any]:
    """The words and templates in ``name.toml``, by split or as that file says."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def blocks(name: str) -> list[list[str]]:
    """The blocks of lines, with an empty line between two, of ``name.txt``."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    return [block.splitlines() for block in text.strip().split("\n\n")]


class Deck(Generic[T]):
    """Things drawn in random order, all of them once before any comes again, so that none is drawn much more often."""

    def __init__(self, rng: np.random.Generator, things: Iterable[T]) -> None:
        self._rng = rng
        self._things: Sequence[T] = tuple(things)
        self._left: list[T] = []

    def draw(self, *other_than: T) -> T:
        """The next item that is none of those given; there must be one."""
        left = [thing for thing in self._left if thing not in other_than]
        if not left:
            again = [self._things[int(place)] for place in self._rng.permutation(len(self._things))]
            self._left += again
            left = [thing for thing in again if thing not in other_than]
        self._left.remove(left[0])
        return left[0]


def shuffled(rng: np.random.Generator, things: Sequence[T]) -> tuple[T, ...]:
    """All items in random order."""
    return tuple(things[int(place)] for place in rng.permutation(len(things)))


def numbered(rng: np.random.Generator, items: Sequence[T]) -> list[tuple[int, T]]:
    """The items as they were made, kin together, each with its number in a random order."""
    number = np.argsort(rng.permutation(len(items)))
    return list(zip(number.tolist(), items, strict=True))


def fill_template(template: str, words: Mapping[str, str]) -> str:
    """A template with its slots ({name}) filled: capitals, "a" or "an", and a full stop where there is none.

    Spaces that an empty slot leaves are taken out.
    """
    text = " ".join(template.format_map(words).split()).replace(" ,", ",").replace(" ;", ";")
    text = re.sub(r"\b([Aa])n? (?=(\w+))", lambda match: f"{match[1]}{'n' * _vowel_first(match[2])} ", text)
    text = re.sub(r"(?:^|[.?!] )[a-z]", lambda match: match[0].upper(), text)
    return text + ("" if text[-1] in ".!?" else ".")


def _vowel_first(word: str) -> bool:
    """Whether it is spoken with a vowel first: "an hour", but "a useful one"."""
    if word.startswith(("use", "unique", "one", "euro")):
        return False
    return word[0].lower() in "aeiou" or word.startswith(("hour", "honest", "heir"))
