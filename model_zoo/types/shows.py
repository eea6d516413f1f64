"""What a result has that a notebook shows: a table of its numbers, and the HTML that is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
else:
    DataFrame = Any  # results are made and read where no pandas is; only their annotations name it


class Shows:
    """A result that shows itself: what it measured, as a table, and in a notebook as HTML (``viz/results.py``).

    A dataclass that has more than one number to show defines its own ``to_frame``. Everything counts from 0.
    """

    __slots__ = ()

    def to_frame(self) -> DataFrame:
        """One row: its fields, and those of what it is about."""
        return table([_row(self)])

    def _repr_html_(self) -> str:
        # By name: viz knows the results, they do not know it, and nothing of it is loaded until a notebook asks.
        html: str = import_module("viz.results").html(self)
        return html


def table(rows: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> DataFrame:
    """A table from columns or from rows; loads pandas."""
    import pandas as pd

    return pd.DataFrame(rows)


def whole_numbers(values: Sequence[int | None]) -> Any:
    """A column of numbers some of which are missing, which pandas would else make fractions of."""
    import pandas as pd

    return pd.array(list(values), dtype="Int64")


def joined(tables: Sequence[DataFrame]) -> DataFrame:
    """Several tables below each other."""
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def _row(result: Any) -> dict[str, Any]:
    """The fields of a result by name, and those of the results in it whose names are not taken."""
    row: dict[str, Any] = {}
    for one in fields(result):
        value = getattr(result, one.name)
        if is_dataclass(value):
            row = {**_row(value), **row}
        else:
            row[one.name] = value
    return row
