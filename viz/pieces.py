"""How models split words into tokens: the words, and below each its pieces, a row for the models that split alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.alignment import BETWEEN
from model_zoo.types import counted
from viz.direction import direction_of
from viz.layout import visible_text
from viz.palette import sequential
from viz.token_line import Cell, Item, Line, filled

_FULL = 5  # pieces at which the colour is full
_WIDEST = 1100  # px of a line, so that a wide screen has room for it
_LETTER = 8  # px, about
_AROUND = 16  # px around a word


def pieces(words: Sequence[str], split: Mapping[str, Sequence[str]], *, dark: bool = False) -> list[Line]:
    """Every word with its pieces by the name of a row; the more pieces, the stronger the colour.

    Every line begins with the names of the rows. Raises ValueError where a row does not have pieces for every word.
    """
    if any(len(of_row) != len(words) for of_row in split.values()):
        raise ValueError(f"every row must have the pieces of {len(words)} words")
    first = Item((Cell("\u00a0"), *(Cell(visible_text(name)) for name in split)))
    indent = max((len(name) for name in split), default=0) * _LETTER + _AROUND
    lines: list[list[Item]] = []
    room = 0
    for word, *split_words in zip(words, *split.values(), strict=True):
        width = max(len(word), *map(len, split_words)) * _LETTER + _AROUND
        if width > room:
            lines.append([first])
            room = _WIDEST - indent
        cells = [
            filled(visible_text(split_word), sequential(dark), (_n(split_word) - 1) / (_FULL - 1))
            for split_word in split_words
        ]
        title = ", ".join(
            f"{name}: {counted(_n(split_word), 'piece')}" for name, split_word in zip(split, split_words, strict=True)
        )
        lines[-1].append(Item((Cell(visible_text(word)), *cells), title))
        room -= width
    return [Line(tuple(items), dir=direction_of(words)) for items in lines]


def _n(written: str) -> int:
    return written.count(BETWEEN) + 1
