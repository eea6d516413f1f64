"""Plain text: lines, or paragraphs where its lines are broken to a width."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Final

from reading.data import Notes
from reading.sentences import split
from reading.text import Text

# Lines broken to a width: of those that another follows many go on in it, with a small letter, and most of these are
# nearly as long as the longest. Sentences on lines of their own differ in length.
_WRAPPED_LINES, _FEWEST, _SHARE, _NARROWEST, _WIDEST, _NEARLY, _MOST = 2_000, 3, 0.3, 40, 200, 0.7, 0.8

_JOINED: Final = "lines that break off inside of sentences were joined."


def sentences(text: Text, notes: Notes) -> Iterator[tuple[int, str]]:
    """The sentences of a text, each with the line in which it begins."""
    if _wrapped(text):
        notes.say(f"{text.name}: {_JOINED}")
        for first, lines in _paragraphs(text):
            yield from _split_paragraph(lines, first)
        return
    for number, line in text.numbered():
        for sentence in split(line):
            yield number, sentence


def _wrapped(text: Text) -> bool:
    """Whether the lines of a text are wrapped at a width, so that sentences continue on the next line."""
    lines = [line.strip() for line in text.head[:_WRAPPED_LINES]]
    followed = [(line, after) for line, after in pairwise(lines) if line and after]
    going_on = [len(line) for line, after in followed if after[:1].islower() and line[-1] not in ".!?…"]
    if len(going_on) < max(_FEWEST, _SHARE * len(followed)):
        return False
    widest = max(going_on)
    near = sum(length >= _NEARLY * widest for length in going_on)
    return _NARROWEST <= widest <= _WIDEST and near >= _MOST * len(going_on)


def _paragraphs(text: Text) -> Iterator[tuple[int, list[str]]]:
    """Lines between empty ones, with the number of the first."""
    first, lines = 1, list[str]()
    for number, line in text.numbered():
        if line.strip():
            if not lines:
                first = number
            lines.append(line.strip())
        elif lines:
            yield first, lines
            lines = []
    if lines:
        yield first, lines


def _split_paragraph(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    text = " ".join(lines)
    ends = [*accumulate(len(line) + 1 for line in lines)]
    at = line = 0
    for sentence in split(text):
        start = text.find(sentence, at)
        at = start + len(sentence)
        while ends[line] <= start:
            line += 1
        yield first + line, sentence
