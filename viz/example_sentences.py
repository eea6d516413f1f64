"""Sentences as evidence, one below the other: the word that looks is framed, the words it looks at are tinted by how
much, and beside each sentence stand a number and ways to see more of it.

``payload`` makes what the component reads, ``SOURCE`` holds its files. The component carries both themes and reports
one thing, by a trigger: ``open``, the places of a sentence and of one of its ways, from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Final, TypedDict

from viz import component
from viz.layout import visible_text
from viz.lit_words import shades

SOURCE = component.source("example_sentences", styles=("picture",))

Span = tuple[int, int]

_ROOM: Final = 260  # characters of a sentence; of a longer one what is around its words
_AROUND: Final = 60  # characters, on either side
_LONGEST: Final = 2000  # characters of a text that an address can carry,
_IN_ADDRESSES: Final = 30_000  # and of all texts in the addresses of one list, which is to be light


@dataclass(frozen=True, slots=True)
class ExampleSentence:
    """A sentence, and what of it is shown; spans are characters of its ``text``.

    ``query`` is the word that looks, framed; None where there is none. ``keys`` are words it looks at, each with its
    share of the attention, 0 to 1, which tints it. ``expected`` is the word it should look at, framed with dashes.
    ``beside`` is the number at the left, as it is written ("83%"), ``note`` a few words below the sentence.
    ``layer``, ``head`` and ``token`` (the first of the query), from 0, are what is opened on other pages; on Cause the
    tokens ``masked`` are, or without any the word whose prediction changes most.
    """

    text: str
    query: Span | None = None
    keys: tuple[tuple[Span, float], ...] = ()
    expected: Span | None = None
    beside: str = ""
    note: str = ""
    layer: int | None = None
    head: int | None = None
    token: int | None = None
    masked: tuple[int, ...] = ()


class Part(TypedDict, total=False):
    """A piece of a sentence that is more than text."""

    text: str
    framed: bool
    expected: bool
    shade: int  # a place in the scale


class Row(TypedDict):
    """A sentence as the component draws it. ``ways`` are the addresses that it leads to, each with the ``text`` as its
    last parameter; a text too long for that is "", and only a click leads there with it.
    """

    parts: list[str | Part]
    beside: str
    note: str
    label: str  # the same for those who do not see it
    text: str
    ways: list[str]


class Payload(TypedDict):
    """What the component reads."""

    rows: list[Row]
    quantity: str  # what the number at the left is
    ways: list[str]  # what the ways of each row are called
    first: int  # rows that are shown before more are asked for
    scale: list[tuple[str, str]]  # evenly spaced over the square root of weights: colours of ground and text
    dark_scale: list[tuple[str, str]]
    file: str  # name of the picture where it can be saved


def payload(
    sentences: Sequence[ExampleSentence],
    quantity: str,
    ways: Mapping[str, Sequence[str]] | None = None,
    *,
    first: int = 10,
    file: str = "",
) -> Payload:
    """Sentences in the order given; ``quantity`` names the number at their left. ``ways`` are by what they are called
    the addresses that each sentence leads to, with parameters of their own and without the text. Raises ValueError
    where these do not fit the sentences, or a span does not fit its sentence.
    """
    ways = ways or {}
    if any(len(addresses) != len(sentences) for addresses in ways.values()):
        raise ValueError(f"the ways do not fit {len(sentences)} sentences")
    room = _IN_ADDRESSES
    rows = []
    for place, sentence in enumerate(sentences):
        text = sentence.text if ways and len(sentence.text) <= min(_LONGEST, room) else ""
        room -= len(text)
        rows.append(
            Row(
                parts=_parts(sentence),
                beside=sentence.beside,
                note=visible_text(sentence.note) if sentence.note else "",
                label=_label(sentence, quantity),
                text=text,
                ways=[addresses[place] for addresses in ways.values()],
            )
        )
    return Payload(
        rows=rows,
        quantity=quantity,
        ways=list(ways),
        first=first,
        scale=shades(dark=False),
        dark_scale=shades(dark=True),
        file=file,
    )


def _parts(sentence: ExampleSentence) -> list[str | Part]:
    """The sentence in pieces, each wholly inside or outside of every span; what is cut off is "…"."""
    marked = (sentence.query, sentence.expected, *(span for span, _ in sentence.keys))
    spans = [span for span in marked if span is not None]
    if any(not 0 <= start <= end <= len(sentence.text) for start, end in spans):
        raise ValueError(f"spans {spans} do not fit a text of {len(sentence.text)} characters")
    parts: list[str | Part] = []
    end_before = 0
    for window_start, window_end in _windows(sentence):
        if window_start > end_before:
            parts.append("… " if end_before == 0 else " … ")
        edges = {place for span in spans for place in span if window_start < place < window_end}
        for start, end in pairwise(sorted({window_start, window_end} | edges)):
            parts.append(_part(sentence, start, end))
        end_before = window_end
    if end_before < len(sentence.text):
        parts.append(" …")
    return parts


def _part(sentence: ExampleSentence, start: int, end: int) -> str | Part:
    text = " ".join(visible_text(word) if word else "" for word in sentence.text[start:end].split(" "))

    def inside(span: Span | None) -> bool:
        return span is not None and span[0] <= start and end <= span[1]

    part = Part(text=text)
    if inside(sentence.query):
        part["framed"] = True
    if inside(sentence.expected):
        part["expected"] = True
    weight = max((weight for span, weight in sentence.keys if inside(span)), default=0.0)
    last = len(shades(dark=False)) - 1
    shade = min(last, round(sqrt(max(weight, 0.0)) * last))  # the scale follows the square root
    if shade:
        part["shade"] = shade
    return part if len(part) > 1 else text


def _windows(sentence: ExampleSentence) -> list[Span]:
    """What of the text is shown: all of it, or the surroundings of the word that looks, of the one it should look at,
    and of the one it looks at most.
    """
    if len(sentence.text) <= _ROOM:
        return [(0, len(sentence.text))]
    strongest = max(sentence.keys, key=lambda key: key[1])[0] if sentence.keys else None
    marked = sorted(span for span in (sentence.query, sentence.expected, strongest) if span is not None) or [(0, 0)]
    wide: list[Span] = []
    for start, end in marked:
        end = min(end, start + _ROOM)
        start, end = max(0, start - _AROUND), min(len(sentence.text), end + _AROUND)
        if wide and start <= wide[-1][1]:
            wide[-1] = (wide[-1][0], max(end, wide[-1][1]))
        else:
            wide.append((start, end))
    return [_at_words(sentence.text, window, marked) for window in wide]


def _at_words(text: str, window: Span, marked: Iterable[Span]) -> Span:
    """The window without the words that it cuts, unless one of those is marked."""
    start, end = window
    if start > 0:
        space = text.find(" ", start, min(start + _AROUND, len(text)))
        start = space + 1 if space >= 0 and not any(a < space + 1 and b > start for a, b in marked) else start
    if end < len(text):
        space = text.rfind(" ", max(start, end - _AROUND), end)
        end = space if space >= 0 and not any(b > space and a < end for a, b in marked) else end
    return start, end


def _label(sentence: ExampleSentence, quantity: str) -> str:
    """What is to be seen in a sentence, in words."""

    def quoted(span: Span) -> str:
        return f"“{visible_text(sentence.text[slice(*span)])}”"

    phrases = []
    if sentence.query and sentence.keys:
        strongest = max(sentence.keys, key=lambda key: key[1])[0]
        phrases.append(f"{quoted(sentence.query)} looks at {quoted(strongest)}")
    elif sentence.query:
        phrases.append(quoted(sentence.query))
    if sentence.expected:
        phrases.append(f"expected {quoted(sentence.expected)}")
    if sentence.beside:
        phrases.append(f"{quantity} {sentence.beside}")
    return ", ".join(phrases)
