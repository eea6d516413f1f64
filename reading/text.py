"""From the bytes of a file to text and its lines, or a sentence that says what is wrong with it.

Nothing is ever unpacked here: what is compressed, or not a text for another reason, is refused by how it begins.
"""

from __future__ import annotations

import codecs
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from propcache.api import cached_property

from model_zoo.errors import InvalidInput
from reading import progress

MAX_LINES: Final = 1_000_000
MAX_CELL: Final = 131_072
"""Characters of a cell or a line, as in Python's own reader of CSV: a longer one has a quote that was never closed."""
MAX_FIRST_LINE: Final = 1_000_001
"""Characters of a first line: one more than an object in a line may have."""

_BEGINNING: Final = 500_000  # bytes that tell of what kind a file is
_AT_ONCE: Final = 1_000_000
# Of all letters, and far more than any language writes: Chinese in GBK would look like this.
_MOST_ACCENTS: Final = 1 / 2
_BINARY: Final = {
    b"PK": "a workbook of Excel or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old workbook of Excel or a document of Word",
    b"\x1f\x8b": "a compressed file (gzip)",
    b"BZh": "a compressed file (bzip2)",
    b"\xfd7zXZ": "a compressed file (xz)",
    b"7z\xbc\xaf": "an archive (7-Zip)",
    b"Rar!": "an archive (RAR)",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"PAR1": "a Parquet table",
    b"ARROW1": "an Arrow table",
    b"SQLite format 3": "a database (SQLite)",
}
_AS_CP1252: Final = "Read as Windows-1252, because it is not UTF-8: check that letters with accents look right."


@dataclass(frozen=True)
class Text:
    """A file as text: its bytes in UTF-8, and what must be said about how it was decoded."""

    name: str
    data: bytes = field(repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def decode(cls, data: bytes, name: str) -> Text:
        """Decode UTF-8, UTF-16 with a byte order mark, else Windows-1252.

        Raises InvalidInput for files that are empty, have more than ``MAX_LINES`` lines, are not text, or are in none
        of these by the look of it.
        """
        _refuse_binary(data, name)
        in_utf8, n_characters, notes = _to_utf8(data, name)
        text = cls(name, in_utf8, notes)
        if b"\x00" in text.data:
            raise InvalidInput(f"{name} is not a text file (it contains null bytes). Save it as UTF-8 text.")
        if not text.first_line:
            raise InvalidInput(f"{name} is empty. Choose a file with text in it.")
        n_lines = text.data.count(b"\n") + text.data.count(b"\r") - text.data.count(b"\r\n") + 1
        if n_lines > MAX_LINES:
            raise InvalidInput(
                f"{name} has {n_lines:,} lines; files may have up to {MAX_LINES:,}. Use a sample of its lines."
            )
        progress.count(n_more=n_characters - len(data))
        return text

    def joined(self) -> str:
        """All of it."""
        return self.data.decode()

    def lines(self, *, ends: bool = False) -> Iterator[str]:
        """Lines ended by \\n, \\r\\n or \\r, one at a time, with their ``ends`` where wanted; other separators of
        Unicode may occur in a text.
        """
        for line in io.TextIOWrapper(io.BytesIO(self.data), "utf-8", newline="" if ends else None):
            yield line if ends else line.removesuffix("\n")

    def numbered(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, from 1, each reported as progress."""
        for number, line in enumerate(self.lines(), start=1):
            progress.count(len(line) + 1)
            yield number, line

    @cached_property
    def head(self) -> list[str]:
        """The lines of the beginning, which tell of what kind a file is."""
        beginning = self.data[:_BEGINNING].decode(errors="ignore")
        return re.split("\r\n?|\n", beginning)

    @cached_property
    def first_line(self) -> str:
        """The first line with anything in it, cut after ``MAX_FIRST_LINE`` characters."""
        with io.TextIOWrapper(io.BytesIO(self.data), "utf-8") as file:
            lines = iter(lambda: file.readline(MAX_FIRST_LINE), "")
            return next((line.lstrip().removesuffix("\n") for line in lines if line.strip()), "")


def _refuse_binary(data: bytes, name: str) -> None:
    kind = next((kind for begin, kind in _BINARY.items() if data.startswith(begin)), None)
    # "PK" could begin a text; a zip archive goes on with bytes that none has.
    if kind is not None and (not data.startswith(b"PK") or data[2:4] in (b"\x03\x04", b"\x05\x06", b"\x07\x08")):
        raise InvalidInput(f"{name} is {kind}, not a text file. Save its text or its table as UTF-8 text or CSV.")


def _to_utf8(data: bytes, name: str) -> tuple[bytes, int, tuple[str, ...]]:
    """The text in UTF-8, how many characters it has, and notes on how it was decoded."""
    notes: tuple[str, ...] = ()
    n_characters: int | None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            text = data.decode("utf-16")
        except UnicodeError as error:
            raise InvalidInput(f"{name} is not the UTF-16 that it begins as. Save it as UTF-8.") from error
        data, n_characters = text.encode(), len(text)
    elif (n_characters := _n_characters(data)) is None:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{name} is neither UTF-8, UTF-16 nor Windows-1252. Save it as UTF-8.") from error
        if "\x00" not in text and sum(not c.isascii() for c in text) > _MOST_ACCENTS * sum(map(str.isalpha, text)):
            raise InvalidInput(
                f"{name} is neither UTF-8 nor UTF-16, and no language of Windows-1252 has so many accents. "
                "Save it as UTF-8."
            )
        data, n_characters, notes = text.encode(), len(text), (_AS_CP1252,)
    while data.startswith(codecs.BOM_UTF8):  # a program may put a second mark before the first
        data, n_characters = data[len(codecs.BOM_UTF8) :], n_characters - 1
    return data, n_characters, notes


def _n_characters(data: bytes) -> int | None:
    """How many there are; None for what is not UTF-8. Piece by piece: a single emoji would make a text of it four times
    as large.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    pieces = (data[start : start + _AT_ONCE] for start in range(0, len(data), _AT_ONCE))
    try:
        return sum(len(decoder.decode(piece)) for piece in pieces) + len(decoder.decode(b"", final=True))
    except UnicodeDecodeError:
        return None


def check_cells(cells: Iterable[object], name: str, unit: str, number: int) -> None:
    """Raises InvalidInput, with the file's name and the number of the row, if a cell is longer than ``MAX_CELL``."""
    if any(isinstance(cell, str) and len(cell) > MAX_CELL for cell in cells):
        raise InvalidInput(f"{name}, {unit} {number:,}: a text has more than {MAX_CELL:,} characters. Shorten it.")


def check_size(data: bytes, name: str, max_bytes: int) -> bytes:
    """The bytes themselves; raises InvalidInput where there are more than ``max_bytes``."""
    if len(data) > max_bytes:
        raise InvalidInput(
            f"{name} is {len(data) / 1e6:.1f} MB; files may be up to {max_bytes / 1e6:.0f} MB. "
            "Use a sample of its lines."
        )
    return data


def non_empty_lines(text: str) -> list[str]:
    """The lines of what was typed that hold anything, without white space around them."""
    return [line.strip() for line in re.split("\r\n?|\n", text) if line.strip()]


def number(text: str) -> float | None:
    """A finite number, with a point or a comma before its decimals; None for anything else."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def plain(value: object) -> str:
    """A value of a cell as text, "" where it is none; half of a surrogate pair, which is no character, as U+FFFD."""
    text = "" if value is None or isinstance(value, dict | list | tuple) else str(value)
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clipped(text: str, most: int = 40) -> str:
    """A visitor's text, for a sentence: on one line, cut where it is long."""
    line = " ".join(text[: 2 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def first_few(places: Sequence[object]) -> str:
    """The first of a list, for a sentence: "3, 8, 9, 12, 20 …"."""
    return ", ".join(f"{place:,}" if isinstance(place, int) else str(place) for place in places[:5]) + (
        " …" if len(places) > 5 else ""
    )


def named(names: Iterable[str]) -> str:
    """The first few names, for a sentence."""
    unique = list(names)
    return ", ".join(f"“{clipped(name)}”" for name in unique[:5]) + (" …" if len(unique) > 5 else "")


def listed(places: Sequence[object], unit: str = "line") -> str:
    """ "line 3" or "lines 3, 8, 9": the first few, each once."""
    unique = list(dict.fromkeys(places))
    return f"{unit if len(unique) == 1 else f'{unit}s'} {first_few(unique)}"
