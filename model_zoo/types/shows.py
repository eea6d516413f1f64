"""What a result has that a notebook shows: a table of its numbers, and the HTML that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
else:
    DataFrame = Any  # results are made and read where no pandas is; only their annotations name it

HTML_FORMATTERS: Final = "look_inside_bert.html_formatters"
"""The group of entry points under which an installed package names modules that call ``set_html_formatter``."""

_format_html: Callable[[Shows], str] | None = None


class Shows:
    """A result that shows itself: what it measured, as a table, and in a notebook as HTML.

    A dataclass that has more than one number to show defines its own ``to_frame``. Everything counts from 0.
    """

    __slots__ = ()

    def to_frame(self) -> DataFrame:
        """One row: its fields, and those of what it is about."""
        return table([_row(self)])

    def _repr_html_(self) -> str | None:
        """What IPython shows; None, for which it shows the ``repr``, where no formatter is known. The results know of
        none: one is registered when its module is imported, at the latest here where the project is installed.
        """
        if _format_html is None:
            for module in entry_points(group=HTML_FORMATTERS):
                module.load()
        return None if _format_html is None else _format_html(self)


def set_html_formatter(formatter: Callable[[Shows], str]) -> None:
    """Have all results shown in notebooks by ``formatter``, which makes HTML of one."""
    global _format_html
    _format_html = formatter


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
    for field in fields(result):
        value = getattr(result, field.name)
        if is_dataclass(value):
            row = {**_row(value), **row}
        else:
            row[field.name] = value
    return row
