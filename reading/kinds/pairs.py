"""Pairs of sentences, with or without a label that says whether B follows A."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from model_zoo.errors import InvalidInput
from reading.data import Role, Row, Table
from reading.items import SentencePair
from reading.kinds.base import Kind, Place, cells_of, open_table, stripped

_TRUE: Final = {"1", "true", "yes", "y", "next", "isnext", "is next", "in order"}
_FALSE: Final = {"0", "false", "no", "n", "random", "notnext", "not next", "swapped"}


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    for line, cells in cells_of(table, places):
        a, b = stripped(cells, "a"), stripped(cells, "b")
        if a and b:
            yield Row(SentencePair(a, b, _label(stripped(cells, "label"), place, line)), line)
        else:
            place.notes.leave_out("rows without an A or a B", line)


def _label(cell: str, place: Place, line: int) -> bool | None:
    word = cell.lower()
    if not word:
        return None
    if word not in _TRUE | _FALSE:
        raise InvalidInput(
            f"{place.label(line)}: “{cell[:40]}” is not a label. Write 1 (B follows A) or 0, or choose no column of "
            "labels."
        )
    return word in _TRUE


KIND: Final = Kind(
    "pairs",
    "pair",
    {"a": Role("sentence A"), "b": Role("sentence B"), "label": Role("label", needed=False)},
    _rows,
    open_table,
)
