"""How models split words into tokens: the words, and below each its pieces, a row for the models that split alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.alignment import BETWEEN
from model_zoo.types import counted
from viz.layout import visible_text
from viz.palette import sequential
from viz.token_line import Cell, Item, Line, filled, wrapped

_FULL = 5  # pieces at which the colour is full


def pieces(words: Sequence[str], split: Mapping[str, Sequence[str]], *, dark: bool = False) -> list[Line]:
    """Every word with its pieces by the name of a row; the more pieces, the stronger the colour.

    Every line begins with the names of the rows. Raises ValueError where a row does not have pieces for every word.
    """
    if any(len(of_row) != len(words) for of_row in split.values()):
        raise ValueError(f"every row must have the pieces of {len(words)} words")
    columns, letters = [], []
    for word, *split_words in zip(words, *split.values(), strict=True):
        cells = [
            filled(visible_text(split_word), sequential(dark), (_n(split_word) - 1) / (_FULL - 1))
            for split_word in split_words
        ]
        title = ", ".join(
            f"{name}: {counted(_n(split_word), 'piece')}" for name, split_word in zip(split, split_words, strict=True)
        )
        columns.append(Item((Cell(visible_text(word)), *cells), title))
        letters.append(max(len(word), *map(len, split_words)))
    return wrapped(split, words, columns, letters)


def _n(written: str) -> int:
    return written.count(BETWEEN) + 1
