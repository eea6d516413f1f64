"""What a kind of data is to the reader, and what kinds share: cells as text, lists in cells, splits."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from model_zoo.errors import InvalidInput
from reading.columns import knows
from reading.data import Choices, Notes, Role, Row, Split, Table
from reading.formats import conll, conllu, delimited, jsons
from reading.text import Text, clipped, plain

SPLIT: Final = Role("split", needed=False)

SPLITS: Final[Mapping[str, Split]] = {
    **dict.fromkeys(("train", "training", "tr"), "train"),
    **dict.fromkeys(("dev", "development", "validation", "valid", "val", "va"), "dev"),
    **dict.fromkeys(("test", "testing", "te"), "test"),
}

Cells = Mapping[str, Any]
"""What a row holds for each role that has a column."""

# The first word of a text, or of a file in columns, may be a bracket.
_JSON: Final = re.compile(r'\{\s*("|\}|$)|\[\s*([\[{"]|\]?$)')
_STRING: Final = re.compile(r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\"""")
# numpy's: array(['a', 'b'], dtype=object).
_ARRAY: Final = re.compile(r"""array\((\[(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[^\]'"])*+\])(?:,\s*dtype=\w+)?\)""")
_LIST: Final = re.compile(r"""\[['"]|\[[-\d.,\s]*\]$|\[\w+(?:,\s*\w+)+\]$|\[\[|\[\{|\[null|\('[^']*',|array\(\[""")


@dataclass(frozen=True)
class Kind:
    """A kind of data: the ``roles`` of its columns, and ``rows``, which makes items of a table's. ``open_text`` finds
    the table in a text; ``parse`` reads texts that are no table, None where this is one. ``noun`` is what an item is.
    """

    name: str
    noun: str
    roles: Mapping[str, Role]
    rows: Callable[[Table, Mapping[str, int], Place], Iterator[Row]]
    open_text: Callable[[Kind, Text, Choices, Notes], Table]
    parse: Callable[[Text, Choices, Notes], tuple[str, Iterator[Row]] | None] = lambda *_: None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row is: its file's ``name`` and ``unit``; and the ``notes`` that are taken."""

    name: str
    unit: str
    notes: Notes

    def label(self, number: int) -> str:
        """ "data.csv, line 3"."""
        return f"{self.name}, {self.unit} {number:,}"


def open_table(kind: Kind, text: Text, choices: Choices, notes: Notes) -> Table:
    """JSON or a table with separators."""
    if text.first_line.startswith(("{", "[")):
        return jsons.table(text, notes)
    if conllu.looks_so(text):
        return conllu.table(text)
    if conll.looks_so(text):  # which has no such columns: said by its name
        return conll.table(text, notes)
    return delimited.table(text, choices, notes, known=knows(kind.roles, delimited.first_cells(text)))


def is_json(text: Text) -> bool:
    """Whether a text that may begin with a bracket of its own begins as JSON does."""
    return bool(_JSON.match(text.first_line))


def cells_of(table: Table, places: Mapping[str, int]) -> Iterator[tuple[int, Cells]]:
    """The rows that hold anything, by roles."""
    for line, row in table.rows:
        if row:
            yield line, {role: row[place] for role, place in places.items()}


def stripped(cells: Cells, role: str) -> str:
    """A cell as text without the space around it, "" where there is none."""
    return plain(cells.get(role)).strip()


def split_of(cells: Cells, line: int, place: Place) -> Split | None:
    """The split that a row names; None where the file has no column for it. Raises InvalidInput for another word."""
    if "split" not in cells:
        return None
    value = cells["split"]
    written = plain(value[0] if isinstance(value, list) and value else value).strip()
    if written.lower() not in SPLITS:
        raise InvalidInput(
            f"{place.label(line)}: the split is “{clipped(written)}”. Write train, dev (or validation) or test, or "
            "leave the column out."
        )
    return SPLITS[written.lower()]


def to_list(value: Any, where: str = "") -> list[Any] | None:
    """A list, also one written into a cell as JSON, Python or numpy write it; None for anything else.

    Raises InvalidInput, with ``where`` it stands, for what begins as such a list and cannot be read to its end.
    """
    if isinstance(value, list):
        return value
    text = value.strip() if isinstance(value, str) else ""
    if not _LIST.match(text):
        return None
    parsed = _literal(text)
    if not isinstance(parsed, list | tuple):
        raise InvalidInput(f'{where}: the list “{clipped(text)}” cannot be read. Write it whole, as JSON: ["a", "b"].')
    return [*parsed]


def _literal(text: str) -> Any:
    """What JSON, Python or numpy wrote; None for anything else."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        pass
    text = _ARRAY.sub(lambda match: match[1], text)
    between = _STRING.sub("\0", text)
    # Python would join neighbours into one string.
    if text.startswith("[") and re.search(r"\0\s+\0", between):
        return (
            [_unescaped(match) for match in _STRING.finditer(text)] if re.fullmatch(r"\[[\0\s]*\]", between) else None
        )
    if re.fullmatch(r"\[[-\d.\s]*\]", text):
        return text[1:-1].split()
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _unescaped(match: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", next(group for group in match.groups() if group is not None))


def to_object(value: Any) -> Any:
    """An object written into a cell as JSON or Python write it, as an object; anything else as it is."""
    text = value.strip() if isinstance(value, str) else ""
    parsed = _literal(text) if text.startswith("{") and text.endswith("}") else None
    return parsed if isinstance(parsed, dict) else value
