"""Where in a text the pieces of a tokenizer stand that does not say so: found by what is written on them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate

from model_zoo.text import word_spans

Span = tuple[int, int]

# What says on a piece that a word begins, goes on or ends with it; "▁" stands for a space wherever it is.
_MARKS = re.compile(r"^##|@@$|</w>$|▁")
# What Moses writes for a sign, which may be cut into several pieces.
_MOSES = {
    "&": "&amp;",
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    "[": "&#91;",
    "]": "&#93;",
}
_INVISIBLE = ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Mc", "Me")
# After a piece that is not what was typed, where the next that is may be: at most so many pieces, signs and places on.
_PIECES, _SIGNS, _PLACES = 16, 64, 8


def spans(text: str, pieces: Sequence[str], unknown: str | None) -> list[Span | None]:
    """The characters (start, end) of each piece, in order; the same for pieces that are parts of one character, empty
    for one that is nothing but space, None for one that has no place in the text.

    Pieces may be bytes, or lowercased, normalized and without accents. One that is not what was typed, as ``unknown``,
    stands for what lies between its neighbours, where it is clear which part of that.
    """
    bare = ["" if piece == unknown else _MARKS.sub("", piece).strip() for piece in pieces]
    places = _spans_of_bytes(text, pieces) or _Walk(text, pieces, bare, unknown).spans
    start = len(text)
    for number in reversed(range(len(pieces))):
        if places[number] is None and not bare[number] and pieces[number] != unknown:
            places[number] = (start, start)  # a space belongs to what comes after it
        start = (places[number] or (start, start))[0]
    # Where less than half of a text is covered, the pieces are not written as it is, and what matches is chance.
    covered = {at for span in places if span for at in range(*span) if not text[at].isspace()}
    return places if 2 * len(covered) >= len("".join(text.split())) else [None] * len(places)


def _spans_of_bytes(text: str, pieces: Sequence[str]) -> list[Span | None]:
    """The spans of pieces that are the text's bytes, each written as the character of that number; [] for others."""
    places = [place for place, sign in enumerate(text) for _ in sign.encode() if sign > " "]
    written = ["".join(sign for sign in piece if sign > " ") for piece in pieces]
    if "".join(written).encode("latin-1", "replace") != "".join(sign for sign in text if sign > " ").encode():
        return []
    ends = accumulate(map(len, written))
    return [
        (places[end - len(piece)], places[end - 1] + 1) if piece else None
        for piece, end in zip(written, ends, strict=True)
    ]


def _folded(text: str) -> Iterator[tuple[int, str]]:
    """What a text is without capitals, accents, spaces and invisible signs, with the place of each sign."""
    for place, sign in enumerate(text):
        for part in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", sign).casefold()):
            if unicodedata.category(part) not in _INVISIBLE:
                yield place, part


class _Walk:
    """Through text and pieces side by side; ``spans`` has that of each piece. ``bare`` are they without marks."""

    def __init__(self, text: str, pieces: Sequence[str], bare: Sequence[str], unknown: str | None) -> None:
        self.text = text
        signs = [*_folded(text)]
        if any("".join(bare).count(escape) > text.count(escape) for escape in _MOSES.values()):
            signs = [(place, part) for place, sign in signs for part in _MOSES.get(sign, sign)]
        self.places, self.folded = [place for place, _ in signs], "".join(part for _, part in signs)
        texts, self.forms = (["".join(part for _, part in _folded(form)) for form in forms] for forms in (pieces, bare))
        self.by_sign = all(len(form) < 2 for form in self.forms)
        self.unknown = [piece == unknown for piece in pieces]
        self.spans: list[Span | None] = [None] * len(pieces)
        at = number = end = 0
        while number < len(pieces):
            forms = (texts[number], self.forms[number])
            length = next((len(form) for form in forms if form and self.folded.startswith(form, at)), 0)
            following, then = number + 1, at + length
            if length:
                self.spans[number] = (self.places[at], self.places[then - 1] + 1)
            elif not self.forms[number] and not self.unknown[number]:  # space, or an accent alone
                start = text.find(bare[number], end, self.places[at] if at < len(signs) else None)
                if bare[number] and start >= 0:
                    self.spans[number] = (start, start + len(bare[number]))
            else:
                following, then = self._next(number, at)
                lost = [place for place in range(number, following) if self.forms[place] or self.unknown[place]]
                rewritten = any(self.forms[place] for place in lost)
                for place, span in zip(lost, self._parts(at, then, len(lost), rewritten), strict=True):
                    self.spans[place] = span
            end = max([end, *(span[1] for span in self.spans[number:following] if span)])
            number, at = following, then

    def _next(self, number: int, at: int) -> tuple[int, int]:
        """Which piece from ``number`` on stands where in the folded text from ``at`` on: the nearest of both, rather at
        the beginning of a word, or where the piece after it stands, too.
        """
        best = (len(self.folded) + len(self.forms), len(self.forms), len(self.folded))
        n_tried = n_unknown = 0
        for place in range(number, len(self.forms)):
            form, after = (*self.forms[place : place + 2], "")[:2]
            if form and (n_tried := n_tried + 1) > _PIECES:
                break
            first = at + n_unknown  # each has a sign at least
            n_unknown += self.unknown[place]
            for key, more in ((form, 2 * bool(after)), (form + after, 0)) if form else ():
                where = first - 1
                for _ in range(_PLACES):
                    if (where := self.folded.find(key, where + 1, first + _SIGNS * (1 + n_unknown))) < 0:
                        break
                    here = self.places[where]
                    inside = not self.by_sign and here > 0 and self.text[here - 1 : here + 1].isalnum()
                    best = min(best, (where - first + place - number + 8 * inside + more, place, where))
        if n_tried > _PIECES and best[1] == len(self.forms):  # nowhere near: without a place, and on with the next
            return next(
                (place for place in range(number + 1, len(self.forms)) if self.forms[place]), len(self.forms)
            ), at
        return best[1:]

    def _parts(self, first: int, last: int, number: int, rewritten: bool) -> Sequence[Span | None]:
        """What lies from ``first`` to ``last`` in the folded text, as so many parts; None for all if it has not, or if
        it was ``rewritten``, in which case a word may have become any number of pieces.
        """
        places = sorted({*self.places[first:last]})
        between = self.text[places[0] : places[-1] + 1] if places else ""
        words = [[match.span() for match in re.finditer(r"\S+", between)], word_spans(between)]
        for parts in (*words, [(place - places[0], place - places[0] + 1) for place in places]):
            if len(parts) == number and (number == 1 or not rewritten):
                return [(places[0] + start, places[0] + end) for start, end in parts]
        return [(places[0], places[0] + 1) if len(places) == 1 else None] * number
