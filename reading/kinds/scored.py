"""Pairs of texts, each with a score of how alike they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from model_zoo.errors import InvalidInput
from reading.data import Role, Row, Table
from reading.items import Scored
from reading.kinds.base import SPLIT, Kind, Place, cells_of, open_table, split_of, stripped
from reading.text import clipped, number


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    for line, cells in cells_of(table, places):
        text, pair, written = (stripped(cells, role) for role in ("text", "pair", "score"))
        if not (text and pair and written):
            place.notes.leave_out("rows without two texts and a score", line)
            continue
        score = number(written)
        if score is None:
            raise InvalidInput(
                f"{place.label(line)}: the score “{clipped(written)}” is not a number. Write one from 0 (nothing in "
                "common) to 5 (the same meaning)."
            )
        yield Row(Scored(text, pair, score), line, split_of(cells, line, place))


KIND: Final = Kind(
    "scored",
    "pair",
    {"text": Role("text"), "pair": Role("second text"), "score": Role("score"), "split": SPLIT},
    _rows,
    open_table,
)
