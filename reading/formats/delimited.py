"""Tables with a comma, a semicolon, a tab or a bar between the columns.

Between tabs a quote is a sign like any other, unless the file's quotes are those of a program that writes CSV, and then
only where they balance within the line: published files hold single quotes, two of which would swallow all lines
between them.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from reading import progress
from reading.columns import ONE_COLUMN
from reading.data import Choices, Notes, Quoting, Table
from reading.text import MAX_CELL, Text, check_cells

MAX_COLUMNS: Final = 200
"""A table of more columns is one that was turned on its side, or whose separator was taken for another."""

_SEPARATORS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_EXCEL: Final = re.compile(r'"?sep=([,;\t|])"?$', re.IGNORECASE)
_QUOTED: Final = re.compile(r'"[^"]*"')
_LOOKED_AT: Final = 50  # rows that tell the separator, and hold a sample of each column
_QUOTES_LOOKED_AT: Final = 5_000
_LONGEST_NAME, _MOST_WORDS = 60, 8
_LONGEST_CELL: Final = 50  # lines
_FEWEST_ROWS: Final = 5  # that a stray quote swallowed


def separator_of(text: Text) -> str:
    """The separator of the columns: of those in the first line the one that is as often in most others."""
    lines = list(islice((line for line in text.head if line.strip()), _LOOKED_AT)) or [""]
    excel = _EXCEL.match(lines[0].strip())
    if excel:
        return excel[1]
    if not any(sign in lines[0] for sign in _SEPARATORS):
        return ","
    counts = {sign: [_QUOTED.sub("", line).count(sign) for line in lines] for sign in _SEPARATORS}

    def fit(sign: str) -> tuple[bool, float, int]:
        first, *others = counts[sign] or [0]
        return first > 0, sum(n == first for n in others) / max(len(others), 1), first

    return max(_SEPARATORS, key=fit)


def first_cells(text: Text) -> list[str]:
    """The cells of the first row, without quotes around them."""
    separator = separator_of(text)
    lines = (line for line in text.head if line.strip() and not _EXCEL.match(line.strip()))
    line = next(lines, "")
    return [cell.strip(' "') for cell in (_balanced(line, separator) or line.split(separator))]


def looks_like_names(cells: list[str]) -> bool:
    """Whether these could be the names of columns: short, different, without numbers alone or ends of sentences."""
    return len(set(cells)) == len(cells) and all(
        len(cell) <= _LONGEST_NAME
        and len(cell.split()) <= _MOST_WORDS
        and not cell.endswith((".", "!", "?"))
        and not cell.replace(".", "").isdigit()
        for cell in cells
        if cell
    )


def table(text: Text, choices: Choices, notes: Notes, *, known: bool) -> Table:
    """The rows of a table. The first names the columns as chosen, or where it holds a name that is ``known`` or looks
    as if it did; else they are "column 1", "column 2" ...

    Rows of another length are left out and counted; so are the lines that quotes joined. Raises InvalidInput with the
    line for what is no table, or beyond a limit.
    """
    separator = separator_of(text)
    quoting: Quoting = choices.quoting or ("csv" if separator != "\t" else _quoting_between_tabs(text))
    guessed = choices.quoting is None and separator == "\t"
    rows = _rows(text, separator, quoting, guessed=guessed, notes=notes)
    line, first = next(((line, row) for line, row in rows if row), (1, []))
    if not first:
        raise InvalidInput(f"{text.name} has no row with anything in it. Name the columns in the first one.")
    header = choices.header if choices.header is not None else known or looks_like_names([*map(str.strip, first)])
    names = [cell.strip() for cell in first] if header else [f"column {n}" for n in range(1, len(first) + 1)]
    names = _different(names)
    data = rows if header else chain([(line, first)], rows)
    rows = complete_rows(data, len(names), notes, text.name, separator)
    table = Table(_named(separator, len(names)), names, rows, header=header, quoting=quoting)
    table.first = line if header else None
    table.look_at(_LOOKED_AT)
    return table


def _named(separator: str, n_columns: int) -> str:
    return ONE_COLUMN if n_columns == 1 else f"a table ({_SEPARATORS[separator]} between columns)"


def _different(names: list[str]) -> list[str]:
    """Names of which none is empty and no two are alike."""
    different: list[str] = []
    for place, name in enumerate(names, start=1):
        taken = not name or name in different
        different.append(f"column {place}" if taken else name)
    return different


def complete_rows(
    rows: Iterator[tuple[int, list[str]]], width: int, notes: Notes, name: str, separator: str
) -> Iterator[tuple[int, list[Any]]]:
    """The rows with a cell a column. Raises InvalidInput at the end where most had not."""
    n_whole, n_other, first_other = 0, 0, (0, 0)
    for line, row in rows:
        while len(row) > width and not row[-1].strip():
            row.pop()
        if row and len(row) != width:
            first_other = first_other if n_other else (line, len(row))
            n_other += 1
            notes.leave_out(f"rows of {'fewer' if len(row) < width else 'more'} columns than the first", line)
            continue
        n_whole += bool(row)
        yield line, row
    if n_other > n_whole:
        raise InvalidInput(
            f"{name}, line {first_other[0]:,}: {counted(first_other[1], 'column')} where the first line has {width}, "
            f"and {n_other:,} of {n_other + n_whole:,} rows are so. If a text holds a {_SEPARATORS[separator]}, put it "
            "in quotes."
        )


def _rows(
    text: Text, separator: str, quoting: Quoting, *, guessed: bool, notes: Notes
) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line in which each begins; [] for an empty line."""
    rows: Iterator[tuple[int, list[str]]]
    if quoting == "none":
        rows = ((number, line.split(separator)) for number, line in text.numbered())
    else:
        rows = _rows_between_tabs(text) if guessed else _csv_rows(text, separator, notes)
    for line, row in rows:
        check_cells(row, text.name, "line", line)
        if len(row) > MAX_COLUMNS:
            raise InvalidInput(
                f"{text.name}, line {line:,}: {len(row):,} columns; a table may have up to {MAX_COLUMNS}. "
                "Keep the columns that are used."
            )
        if line == 1 and _EXCEL.match(separator.join(row).strip()):
            continue
        yield line, row if any(cell.strip() for cell in row) else []


def _csv_rows(text: Text, separator: str, notes: Notes) -> Iterator[tuple[int, list[str]]]:
    """Rows as CSV has them. A quote that swallowed whole rows is none: they are read line by line."""
    recent: list[str] = []

    def lines() -> Iterator[str]:
        for line in text.lines(ends=True):
            progress.count(len(line))
            recent.append(line)
            yield line

    reader = csv.reader(lines(), delimiter=separator, strict=True)
    start, n_joined, first_joined, width = 1, 0, 0, 0
    try:
        for row in reader:
            width = width or len(row)
            if len(recent) > 1 and _are_rows(recent, separator, width):
                notes.note("Quotes that would join whole rows are read as ordinary signs", start)
                for number, line in enumerate(recent, start=start):
                    yield number, line.rstrip("\r\n").split(separator)
            else:
                if len(recent) > 1:
                    first_joined = first_joined or start
                    n_joined += len(recent)
                yield start, row
            start += len(recent)
            recent.clear()
    except csv.Error as error:
        problem = (
            f"a cell has more than {MAX_CELL:,} characters. Close the quote that it begins with, or shorten it."
            if "field larger than" in str(error)
            else f"this is not a well-formed table ({error}). Check its quotes, or read them as ordinary signs."
        )
        raise InvalidInput(f"{text.name}, line {start:,}: {problem}") from error
    if n_joined:
        notes.say(f"Quotes joined {n_joined:,} lines into cells of several lines (from line {first_joined:,}).")


def _are_rows(lines: list[str], separator: str, width: int) -> bool:
    """Whether lines that a quote joined are rows of the table each: all of them with its number of separators, and too
    many for a cell that happens to hold some.
    """
    return width > 1 and len(lines) >= _FEWEST_ROWS and all(line.count(separator) == width - 1 for line in lines)


def _rows_between_tabs(text: Text) -> Iterator[tuple[int, list[str]]]:
    """Rows with quotes that are those of CSV only where they balance: within a line, or within the next few lines where
    these are no rows of their own.
    """
    width = len(first_cells(text))
    lines = text.numbered()
    ahead: deque[tuple[int, str]] = deque()
    while line := (ahead.popleft() if ahead else next(lines, None)):
        number, written = line
        row = _balanced(written, "\t") if '"' in written else None
        if row is None and written.count("\t") < width - 1 and _opens(written):
            ahead.extend(islice(lines, max(0, _LONGEST_CELL - len(ahead))))
            row, n_lines = _join_lines(written, [other for _, other in ahead], width)
            for _ in range(n_lines):
                ahead.popleft()
        row = written.split("\t") if row is None else row
        yield number, row


def _opens(line: str) -> bool:
    """Whether a cell of a line begins with a quote."""
    return line.startswith('"') or '\t"' in line


def _join_lines(line: str, following: list[str], width: int) -> tuple[list[str] | None, int]:
    """The row that a line begins, and how many of the following belong to it; None where these do not end it."""
    joined = line
    for n_lines, other in enumerate(following, start=1):
        joined += f"\n{other}"
        if '"' in other:
            row = next(csv.reader(joined.splitlines(keepends=True), delimiter="\t"), [])
            balanced = joined.count('"') % 2 == 0
            if balanced:
                return (row, n_lines) if len(row) == width else (None, 0)
    return None, 0


def _balanced(line: str, separator: str) -> list[str] | None:
    """A line's cells where its quotes are those of CSV and all closed in it, else None."""
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), None)
    except csv.Error:
        return None


def _quoting_between_tabs(text: Text) -> Quoting:
    """ "csv" where a program quoted the cells: the names of the columns, or some that hold a tab or doubled quotes; and
    no whole row has a quote that is not closed in it.
    """
    evidence, width = False, len(first_cells(text))
    for number, line in enumerate(islice(text.lines(), _QUOTES_LOOKED_AT)):
        cells = line.split("\t")
        if '"' not in line or not any(cell.startswith('"') for cell in cells):
            continue
        if number == 0 and all(_QUOTED.fullmatch(cell.strip()) for cell in cells):
            return "csv"
        row = _balanced(line, "\t")
        if row is None and len(cells) == width:
            return "none"
        evidence = evidence or (
            row is not None and len(row) == width and any('"' in cell or "\t" in cell for cell in row)
        )
    return "csv" if evidence else "none"
