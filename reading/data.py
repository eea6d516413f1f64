"""What was read of files: the items, and a report of how they were read and of what was not."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

from model_zoo.errors import InvalidInput
from model_zoo.types import Shows, counted
from reading.items import Item
from reading.text import clipped, first_few, listed

if TYPE_CHECKING:
    import pandas as pd

Quoting = Literal["csv", "none"]
Split = Literal["train", "dev", "test"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a reader decides of how to read; the defaults leave all of it to what the file looks like.

    ``columns`` names for roles the column of the file that has it; "" for none. ``header`` says whether the first row
    names the columns (else they are "column 1", "column 2" ...), ``quoting`` whether quotes are those of CSV, around
    cells that hold separators or line breaks, or signs like any other.
    """

    columns: tuple[tuple[str, str], ...] = ()
    header: bool | None = None
    quoting: Quoting | None = None


@dataclass(frozen=True, slots=True)
class Role:
    """What a column is for: the ``meaning`` of its cells, in a word or two, and whether a file may lack it."""

    meaning: str
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """How a file, or several, were read.

    ``format`` names the format for the screen. ``columns`` has the column of each role, ``unused`` the other columns,
    ``samples`` of every column a value. ``header`` and ``quoting`` are what was taken, None where the format has none
    to choose. ``left_out`` says for each reason in which ``unit`` s; ``n_items`` are left, each a ``noun``, of which a
    ``preview`` has the ``fields`` of the first as texts.
    """

    kind: str
    names: tuple[str, ...]
    format: str = ""
    n_items: int = 0
    noun: str = "item"
    unit: str = "line"
    columns: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    samples: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, Role] = field(default_factory=dict)
    header: bool | None = None
    quoting: Quoting | None = None
    left_out: Mapping[str, tuple[int | str, ...]] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    preview: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was left out and why, with lines, and what else must be said; in sentences."""
        left_out = self.left_out.items()
        return (
            *self.notes,
            *(f"Left out {len(at):,}: {reason} ({_listed(at, self.names, self.unit)})." for reason, at in left_out),
        )


def _listed(places: Sequence[int | str], names: Sequence[str], unit: str) -> str:
    """Where things are: "lines 3, 8 …", or in several files "a.txt line 3, b.txt line 8"."""
    return first_few(places) if len(names) > 1 else listed(places, unit)


@dataclass(frozen=True, slots=True)
class Data(Shows):
    """What was read: ``items``, for each its ``lines`` (or the number of its record) and the split that the file names,
    None where it names none; and the ``report`` of how.
    """

    items: Sequence[Item] = field(repr=False)
    lines: Sequence[int] = field(repr=False)
    splits: Sequence[Split | None] = field(repr=False)
    report: Report = field(repr=False)

    def __repr__(self) -> str:
        return f"<Data {counted(len(self.items), self.report.noun)} of {self.name}>"

    def to_frame(self) -> pd.DataFrame:
        """One row an item: what it holds, its line and its split."""
        import pandas as pd

        frame = pd.DataFrame([asdict(item) for item in self.items])
        return frame.assign(line=self.lines, split=[split or "" for split in self.splits])

    @property
    def kind(self) -> str:
        return self.report.kind

    @property
    def name(self) -> str:
        """The file's, or those of several."""
        return ", ".join(self.report.names[:5])

    @property
    def format(self) -> str:
        return self.report.format

    @property
    def columns(self) -> Mapping[str, str]:
        return self.report.columns

    @property
    def unused(self) -> tuple[str, ...]:
        return self.report.unused

    @property
    def left_out(self) -> Mapping[str, tuple[int | str, ...]]:
        return self.report.left_out

    @property
    def notes(self) -> tuple[str, ...]:
        return self.report.notes

    def where(self, line: int) -> str:
        """ "data.csv, line 3"."""
        return f"{self.name}, {self.report.unit} {line:,}"


class MissingColumn(InvalidInput):
    """A role that is needed has no column; ``report`` has the columns there are, so that one can be chosen."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[type[MissingColumn], tuple[str, Report]]:
        return type(self), (str(self), self.report)


class Notes:
    """What is noted while files are read: what is left out of each, and what must be said."""

    def __init__(self) -> None:
        self.names: list[str] = []  # of the files so far; what is noted is of the last
        self.notes: dict[str, None] = {}
        self.unit = "line"
        self._left_out: dict[str, tuple[array[int], array[int]]] = {}
        self._remarks: dict[str, tuple[array[int], array[int]]] = {}

    def say(self, note: str) -> None:
        """Something that must be said, once."""
        self.notes[note] = None

    def note(self, remark: str, line: int, n: int = 1) -> None:
        """Something that must be said of ``n`` things of a line that are kept."""
        self._keep(self._remarks, remark, line, n)

    def leave_out(self, reason: str, line: int, n: int = 1) -> None:
        """``n`` things of this line are left out; the reason says what they are, as in "rows without a text"."""
        self._keep(self._left_out, reason, line, n)

    def _keep(self, of: dict[str, tuple[array[int], array[int]]], reason: str, line: int, n: int) -> None:
        files, lines = of.setdefault(reason, (array("H"), array("q")))
        files.extend([len(self.names) - 1] * n)
        lines.extend([line] * n)

    def left_out(self) -> dict[str, tuple[int | str, ...]]:
        """For each reason the lines; of several files, with their names."""
        return {reason: self._places(*where) for reason, where in self._left_out.items()}

    def remarks(self) -> tuple[str, ...]:
        """What must be said, in sentences."""
        of_lines = ((remark, self._places(*where)) for remark, where in self._remarks.items())
        notes = (f"{remark} ({len(at):,}: {_listed(at, self.names, self.unit)})." for remark, at in of_lines)
        return *self.notes, *notes

    def _places(self, files: array[int], lines: array[int]) -> tuple[int | str, ...]:
        if len(self.names) < 2:
            return tuple(lines)
        return tuple(f"{self.names[file]} {self.unit} {line}" for file, line in zip(files, lines, strict=True))


@dataclass(slots=True)
class Table:
    """Rows under columns, as every format gives them: ``names`` of the columns, and ``rows`` each with its line (or the
    number of its record) and a value a column. A row may be empty where the file has an empty line.
    """

    format: str
    names: list[str]
    rows: Iterator[tuple[int, list[Any]]]
    samples: dict[str, str] = field(default_factory=dict)
    unit: str = "line"
    header: bool | None = None
    quoting: Quoting | None = None
    columns: dict[str, str] = field(default_factory=dict)
    """Roles that the format itself knows."""
    first: int | None = None
    """The line that has the names of the columns."""
    used: tuple[str, ...] = ()
    """Columns that the format itself makes use of."""

    def look_at(self, n: int) -> None:
        """Note of every column the first value there is in the first ``n`` rows, which stay among the rows."""
        some = [*islice(self.rows, n)]
        self.rows = chain(some, self.rows)
        rows = [row for _, row in some]
        for place, name in enumerate(self.names):
            values = (row[place] for row in rows if place < len(row) and row[place] not in (None, "", []))
            value = next(values, "")
            self.samples[name] = clipped(str(value[0] if isinstance(value, list) else value))


@dataclass(frozen=True, slots=True)
class Row:
    """An item with its line, and the split and the file that it is of."""

    item: Item
    line: int
    split: Split | None = None
    file: int = 0
