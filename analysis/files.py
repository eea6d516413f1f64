"""Files that people upload: from bytes to text, lines and rows, or a sentence that says what is wrong with them.

Nothing is ever unpacked: what is compressed, or not a text for another reason, is refused by how it begins.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from analysis import progress
from model_zoo.errors import InvalidInput
from model_zoo.types import counted

# A list of a million lines takes some 60 MB; files that probes and lists of pairs are made of have a tenth of that.
MAX_LINES = 1_000_000
# A table of more columns is one that was turned on its side, or whose separator was taken for another.
MAX_COLUMNS = 200
# The probing sets of SentEval have 120,000.
MAX_ROWS = 200_000
# What Python's own reader of CSV takes: a longer cell is one whose quote was never closed.
MAX_CELL = csv.field_size_limit()
# Of all letters, and far more than any language writes: Chinese in GBK would look like this.
_MOST_ACCENTS = 1 / 2

_BEGINNING = 500_000
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_KINDS = {
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
}


def check_size(data: bytes, name: str, max_bytes: int) -> bytes:
    """The bytes themselves; raises InvalidInput where there are more than ``max_bytes``."""
    if len(data) > max_bytes:
        raise InvalidInput(
            f"{name} is {len(data) / 1e6:.1f} MB; files may be up to {max_bytes / 1e6:.0f} MB. "
            "Use a sample of its lines."
        )
    return data


def decoded(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """The file as text, and what must be said about it: UTF-8, UTF-16 with a byte order mark, else Windows-1252.

    Raises InvalidInput for files that are empty, have more than ``MAX_LINES`` lines, are not text, or are in none of
    these by the look of it.
    """
    # "PK" could begin a text; a zip archive goes on with bytes that none has.
    kind = next((kind for begin, kind in _KINDS.items() if data.startswith(begin)), None)
    if kind is not None and (not data.startswith(b"PK") or data[2:4] in (b"\x03\x04", b"\x05\x06", b"\x07\x08")):
        raise InvalidInput(f"{name} is {kind}, not a text file. Save its text or its table as UTF-8 text or CSV.")
    notes: tuple[str, ...] = ()
    try:
        text = data.decode("utf-16") if data.startswith((b"\xff\xfe", b"\xfe\xff")) else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{name} is neither UTF-8, UTF-16 nor Windows-1252. Save it as UTF-8.") from error
        notes = ("Read as Windows-1252, because it is not UTF-8: check that letters with accents look right.",)
    text = text.lstrip("\ufeff")  # a program may put a second mark before the first
    if "\x00" in text:
        raise InvalidInput(f"{name} is not a text file (it contains null bytes). Save it as UTF-8 text.")
    if notes and sum(not c.isascii() for c in text) > _MOST_ACCENTS * sum(map(str.isalpha, text)):
        raise InvalidInput(
            f"{name} is neither UTF-8 nor UTF-16, and no language of Windows-1252 has so many accents. "
            "Save it as UTF-8."
        )
    if not text.strip():
        raise InvalidInput(f"{name} is empty. Choose a file with text in it.")
    n_lines = text.count("\n") + text.count("\r") - text.count("\r\n") + 1
    if n_lines > MAX_LINES:
        raise InvalidInput(
            f"{name} has {n_lines:,} lines; files may have up to {MAX_LINES:,}. Use a sample of its lines."
        )
    progress.count(n_more=len(text) - len(data))
    return text, notes


def each_line(text: str, *, ends: bool = False) -> Iterator[str]:
    """Lines ended by \\n, \\r\\n or \\r, one at a time, with their ``ends`` where wanted; other Unicode separators may
    occur in a text.
    """
    start, newline, carriage_return = 0, text.find("\n"), text.find("\r")
    while newline >= 0 or carriage_return >= 0:
        stop = newline if carriage_return < 0 or 0 <= newline < carriage_return else carriage_return
        end = stop + (2 if stop + 1 == newline else 1)
        yield text[start : end if ends else stop]
        progress.count(end - start)
        start = end
        if 0 <= newline < start:
            newline = text.find("\n", start)
        if 0 <= carriage_return < start:
            carriage_return = text.find("\r", start)
    yield text[start:]
    progress.count(len(text) - start)


def first_lines(text: str) -> list[str]:
    """The lines of the first ``_BEGINNING`` characters, which tell of what kind a file is."""
    return re.split("\r\n?|\n", text[:_BEGINNING])


def lines(text: str) -> list[str]:
    """The lines of ``each_line``."""
    return list(each_line(text))


def texts(text: str) -> list[str]:
    """The lines that hold anything, without white space around them."""
    return [line.strip() for line in lines(text) if line.strip()]


def separator_of(header: str) -> str:
    """The separator of the columns, whichever is most frequent in the first line: comma, semicolon, tab or bar."""
    return max(_SEPARATORS, key=header.count)


def separator_name(header: str) -> str:
    """The separator of a table with this first line, in a word."""
    return _SEPARATORS[separator_of(header)]


def first_line(text: str) -> str:
    """The first line with anything in it."""
    return next((line.lstrip() for line in each_line(text) if line.strip()), "")


def rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table in CSV, each with the number of the line it begins in; the first holds the columns' names.

    Comma, semicolon, tab or bar between the columns, by what the first line holds; quoted cells may hold them and line
    breaks. Rows without anything in them are passed over. Raises InvalidInput with the line where it is not a table or
    beyond a limit.
    """
    reader = csv.reader(each_line(text, ends=True), delimiter=separator_of(first_line(text)), strict=True)
    start, n_rows = 1, 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                if len(row) > MAX_COLUMNS:
                    raise InvalidInput(
                        f"{name}, line {start}: {len(row):,} columns; a table may have up to {MAX_COLUMNS}. "
                        "Keep the columns that are used."
                    )
                if n_rows > MAX_ROWS:  # the first names the columns
                    raise InvalidInput(f"{name} has more than {MAX_ROWS:,} rows. Use a sample of them.")
                n_rows += 1
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        said = (
            f"a cell has more than {MAX_CELL:,} characters. Close the quote that it begins with, or shorten it."
            if "field larger than" in str(error)
            else f"this is not a well-formed table ({error}). Check its quotes."
        )
        raise InvalidInput(f"{name}, line {start}: {said}") from error
    if not n_rows:
        raise InvalidInput(f"{name} has no row with anything in it. Name the columns in the first one.")


def cell(row: list[str], place: int | None) -> str:
    """A row's cell without the spaces around it, "" where there is none."""
    return row[place].strip() if place is not None and place < len(row) else ""


def number(text: str) -> float | None:
    """A finite number, with a point or a comma before its decimals; None for anything else."""
    try:
        found = float(text.replace(",", "."))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def read_json(text: str) -> Any:
    """What a text in JSON holds. Numbers stay as they are written: one of 5,000 digits is none that Python reads.

    Raises ValueError, its message fit for a sentence; a JSONDecodeError where it is of one place in the text.
    """
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise ValueError("objects nested too deeply") from error


def json_lines(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines, one in each line that is not empty, with the line's number and their keys in small
    letters. Raises InvalidInput.
    """
    for place, line in enumerate(lines(text), start=1):
        if not line.strip():
            continue
        try:
            found = read_json(line)
        except ValueError as error:
            raise InvalidInput(
                f"{name}, line {place}: this is not a JSON object ({error}). "
                "JSON lines have one complete object per line."
            ) from error
        if not isinstance(found, dict):
            raise InvalidInput(
                f"{name}, line {place}: this is not a JSON object. JSON lines have one per line, without a list "
                "around them."
            )
        yield place, {key.lower(): value for key, value in found.items()}


def plain(value: object) -> str:
    """A value of JSON as text, "" where it is none; half of a surrogate pair, which is no character, as U+FFFD."""
    text = "" if value is None or isinstance(value, dict | list) else str(value)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def first_few(numbers: list[int]) -> str:
    """The first numbers of a list, for a sentence: "3, 8, 9, 12, 20 …"."""
    return ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")


def left_out(numbers: list[int], without: str, unit: str = "line") -> tuple[str, ...]:
    """A note about lines that were left out, with the numbers of the first few; none where all were used."""
    if not numbers:
        return ()
    return (f"Left out {counted(len(numbers), unit)} without {without}: {first_few(numbers)}.",)
