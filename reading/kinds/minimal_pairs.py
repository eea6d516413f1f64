"""Minimal pairs, two sentences of which one is right; BLiMP's names (Warstadt et al. 2020) or ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from reading.data import Role, Row, Table
from reading.items import MinimalPair
from reading.kinds.base import Kind, Place, cells_of, open_table, stripped

_ROLES: Final = ("good", "bad", "phenomenon", "paradigm")


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    for line, cells in cells_of(table, places):
        pair = MinimalPair(*(stripped(cells, role) for role in _ROLES))
        if pair.good and pair.bad:
            yield Row(pair, line)
        else:
            place.notes.leave_out("rows without both sentences", line)


KIND: Final = Kind(
    "minimal pairs",
    "pair",
    {
        "good": Role("right sentence"),
        "bad": Role("wrong sentence"),
        "phenomenon": Role("phenomenon", needed=False),
        "paradigm": Role("paradigm", needed=False),
    },
    _rows,
    open_table,
)
