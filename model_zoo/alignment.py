"""Where in a text the pieces of a tokenizer stand that does not say so: found by what is written on them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from transformers.convert_slow_tokenizer import bytes_to_unicode

from model_zoo.text import word_spans

Span = tuple[int, int]

# What says on a piece that a word begins, goes on or ends with it; "▁" stands for a space wherever it is.
_MARKS = re.compile(r"^##|@@$|</w>$|▁")
_GPT2 = {sign: byte for byte, sign in bytes_to_unicode().items()}
# What Moses writes for a sign, which may be cut into several pieces.
_ESCAPES = {
    "&": "&amp;",
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    "[": "&#91;",
    "]": "&#93;",
}
# How pieces that are bytes are written.
_AS_BYTES: tuple[Callable[[str], bytes], ...] = (
    lambda piece: piece.encode("latin-1"),
    lambda piece: bytes(_GPT2[sign] for sign in piece),
    bytes.fromhex,
)
# After a piece that is not what was typed, where the next that is may be: at most so many pieces, signs and places on.
_PIECES, _SIGNS, _PLACES = 16, 64, 8


def spans(text: str, pieces: Sequence[str], unknown: str | None) -> list[Span | None]:
    """The characters (start, end) of each piece, in order; the same for pieces that are parts of one character, empty
    for one that is nothing but space, None for one that has no place in the text.

    Pieces may be bytes, or lowercased, normalized and without accents. Of those that are not what was typed, as
    ``unknown``, each stands for its part of what lies between its neighbours, where it is clear which that is.
    """
    for read in _AS_BYTES:
        if (found := _by_bytes(text, pieces, read)) is not None:
            return found
    found = _Walk(text, pieces, unknown).found
    # Where less than half is found, the pieces are not written as the text is, and what is found is chance.
    return found if 2 * found.count(None) <= len(found) else [None] * len(found)


def _by_bytes(text: str, pieces: Sequence[str], read: Callable[[str], bytes]) -> list[Span | None] | None:
    """The spans of pieces that are the text's bytes, but for spaces; None where they are not."""
    codes, owners = bytearray(), list[int]()
    for number, piece in enumerate(pieces):
        try:
            of_piece = read(piece)
        except (ValueError, KeyError):  # a token that was added is written in letters
            of_piece = piece.encode("utf-8", "replace")
        kept = bytes(code for code in of_piece if code > 32)
        codes += kept
        owners += [number] * len(kept)
    if codes != bytes(code for code in text.encode("utf-8", "replace") if code > 32):
        return None
    found: list[Span | None] = [None] * len(pieces)
    byte = 0
    for place, sign in enumerate(text):
        n_bytes = len(sign.encode("utf-8", "replace")) if sign > " " else 0
        for number in owners[byte : byte + n_bytes]:
            found[number] = ((found[number] or (place, place))[0], place + 1)
        byte += n_bytes
    return _with_spaces(text, found, range(len(found)))


def _with_spaces(text: str, found: list[Span | None], empty: Sequence[int]) -> list[Span | None]:
    """The spans found, and those of the ``empty`` pieces: each stands before the next that was found."""
    start, still_empty = len(text), set(empty)
    for number in reversed(range(len(found))):
        if found[number] is None and number in still_empty:
            found[number] = (start, start)
        start = (found[number] or (start, start))[0]
    return found


def _folded(text: str, escapes: Mapping[str, str] = MappingProxyType({})) -> Iterator[tuple[int, str]]:
    """What a text is without capitals, accents, spaces and invisible signs, with the place of each sign."""
    for place, sign in enumerate(escapes.get(each, each) for each in text):
        for part in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", sign).casefold()):
            if unicodedata.category(part) not in ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Mc", "Me"):
                yield place, part


class _Walk:
    """Through text and pieces side by side; ``found`` has the span of each piece."""

    def __init__(self, text: str, pieces: Sequence[str], unknown: str | None) -> None:
        self.text = text
        bare = ["" if piece == unknown else _MARKS.sub("", piece) for piece in pieces]
        escaped = any("".join(bare).count(escape) > text.count(escape) for escape in _ESCAPES.values())
        signs = list(_folded(text, _ESCAPES if escaped else {}))
        self.places, self.folded = [place for place, _ in signs], "".join(part for _, part in signs)
        # As they are, and without their marks; "" for the unknown.
        self.forms = [
            ["".join(part for _, part in _folded(form)) for form in (piece, plain)]
            for piece, plain in zip(pieces, bare, strict=True)
        ]
        self.by_sign = all(len(forms[-1]) < 2 for forms in self.forms)
        self.found: list[Span | None] = [None] * len(pieces)
        blank = [piece != unknown and not forms[-1] for piece, forms in zip(pieces, self.forms, strict=True)]
        at = number = end = 0
        while number < len(pieces):
            length = next((len(form) for form in self.forms[number] if form and self.folded.startswith(form, at)), 0)
            if length:
                end = self.places[at + length - 1] + 1
                self.found[number] = (self.places[at], end)
                number, at = number + 1, at + length
            elif blank[number]:  # space, or an accent alone
                start = text.find(bare[number].strip(), end, self.places[at] if at < len(signs) else None)
                if bare[number].strip() and start >= 0:
                    end = start + len(bare[number].strip())
                    self.found[number] = (start, end)
                number += 1
            else:
                following, then = self._next(number, at, blank)
                waiting = [place for place in range(number, following) if not blank[place]]
                parts = self._between(at, then, len(waiting), any(self.forms[place][-1] for place in waiting))
                for place, span in zip(waiting, parts, strict=True):
                    self.found[place] = span
                end = max(end, self.places[then - 1] + 1 if then else 0)
                number, at = following, then
        _with_spaces(text, self.found, [place for place, each in enumerate(blank) if each and not bare[place].strip()])

    def _next(self, number: int, at: int, blank: Sequence[bool]) -> tuple[int, int]:
        """Which piece from ``number`` on stands where in the folded text from ``at`` on: the nearest of both, rather at
        the beginning of a word, or where the piece after it stands, too.
        """
        best = (len(self.folded) + len(self.forms), len(self.forms), len(self.folded))
        n_tried = n_unknown = 0
        for place in range(number, len(self.forms)):
            form = self.forms[place][-1]
            n_unknown += not form and not blank[place]
            if not form:
                continue
            n_tried += 1
            if n_tried > _PIECES:
                break
            after = self.forms[place + 1][-1] if place + 1 < len(self.forms) else ""
            first = at + n_unknown  # each has a sign at least
            for key, more in {form: 4 * bool(after), form + after: 0}.items():
                where = first - 1
                for _ in range(_PLACES):
                    where = self.folded.find(key, where + 1, first + _SIGNS * (1 + n_unknown))
                    if where < 0:
                        break
                    inside = not self.by_sign and self._is_inside(where)
                    best = min(best, (where - first + place - number + 8 * inside + more, place, where))
        if n_tried > _PIECES and best[1] == len(self.forms):  # nowhere near: without a place, and on with the next
            return number + 1, at
        return best[1], best[2]

    def _is_inside(self, where: int) -> bool:
        """Whether a sign of the folded text goes on with a word."""
        place = self.places[where]
        return place > 0 and self.text[place].isalnum() and self.text[place - 1].isalnum()

    def _between(self, first: int, last: int, number: int, rewritten: bool) -> Sequence[Span | None]:
        """What lies from ``first`` to ``last`` in the folded text, as so many parts; None for all if it has not, or if
        it was ``rewritten``, in which case a word may have become any number of pieces.
        """
        places = sorted(set(self.places[first:last]))
        if not places:
            return [None] * number
        start, end = places[0], places[-1] + 1
        if len(places) == 1:
            return [(start, end)] * number
        between = self.text[start:end]
        for parts in ([match.span() for match in re.finditer(r"\S+", between)], word_spans(between)):
            if len(parts) == number and (number == 1 or not rewritten):
                return [(start + first, start + last) for first, last in parts]
        return [(place, place + 1) for place in places] if len(places) == number and not rewritten else [None] * number
