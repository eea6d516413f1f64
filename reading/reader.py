"""The one way from files to items: every format, every kind, and archives of them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from model_zoo.errors import InvalidInput
from model_zoo.types import MB
from reading.columns import place
from reading.data import Choices, Data, Notes, Quoting, Report, Row, Split, Table
from reading.formats import archive, parquet
from reading.items import Item, ParsedSentence, PassageQuestion
from reading.kinds import KINDS
from reading.kinds.base import SPLITS, Place
from reading.packed import Packed
from reading.text import MAX_LINES, Text, clipped, named

MAX_BYTES: Final = 50 * MB
"""Of all files together, packed and unpacked, where nothing else is said."""

_PREVIEWED: Final = 3
_LONGEST: Final = 120  # characters of a cell in a preview
_UNPACKED: Final = (*archive.BEGINS, parquet.BEGINS)


def read(
    source: bytes | str | Path,
    kind: str,
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    quoting: Quoting | None = None,
) -> Data:
    """What a file holds: a path, or its bytes and its ``name``.

    ``kind`` is one of "labelled", "scored", "tagged", "questions", "minimal pairs", "pairs", "sentences", "trees" and
    "pronouns". What the file is, and which column is what, its content tells; ``columns`` (a role's column by its
    name), ``header`` and ``quoting`` say otherwise, as ``Choices``. Raises InvalidInput, with the line where one is to
    blame, for what cannot be read; MissingColumn where a role has no column.
    """
    if isinstance(source, bytes):
        data, called = source, name or "The file"
    else:
        path = Path(source)
        try:
            data, called = path.read_bytes(), name or path.name
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read ({error.strerror}). Give the path of a file.") from error
    return read_files([(called, data)], kind, Choices(tuple((columns or {}).items()), header, quoting))


def read_files(
    files: Sequence[tuple[str, bytes]],
    kind: str,
    choices: Choices | None = None,
    max_bytes: int = MAX_BYTES,
    most: int = MAX_LINES,
) -> Data:
    """The same of several files, each its name and its bytes, at most ``most`` items of them."""
    stream = Stream(files, kind, choices or Choices(), max_bytes)
    items, lines, splits = Packed[Item](), Packed[int](), Packed[Split | None]()
    for row in stream:
        if len(items) < most:
            items.append(row.item)
            lines.append(row.line)
            splits.append(row.split)
        else:
            stream.notes.leave_out(f"{stream.kind.noun}s beyond the first {most:,}", row.line)
    return Data(items, lines, splits, stream.report(len(items)))


def unpacks(data: bytes) -> bool:
    """Whether a file can hold far more than its size."""
    return data.startswith(_UNPACKED)


class Stream:
    """The items of files, one after the other; what is noted of them meanwhile is in ``notes``, and at the end in the
    ``report``.
    """

    def __init__(self, files: Sequence[tuple[str, bytes]], kind: str, choices: Choices, max_bytes: int) -> None:
        if kind not in KINDS:
            raise InvalidInput(f"There is no kind of data “{clipped(kind)}”. The kinds are {named(KINDS)}.")
        self.kind = KINDS[kind]
        foreign = [role for role, _ in choices.columns if role not in self.kind.roles]
        if foreign:
            raise InvalidInput(
                f"Data of the kind “{kind}” has no {named(foreign)}. "
                f"{f'Its columns are {named(self.kind.roles)}.' if self.kind.roles else 'It has no columns to choose.'}"
            )
        self.notes = Notes()
        self._files, self._choices, self._max_bytes = files, choices, max_bytes
        self._formats: dict[str, None] = {}
        self._fields: tuple[str, ...] = ()
        self._preview: list[tuple[str, ...]] = []
        self._table: tuple[Table, Mapping[str, int]] | None = None

    def __iter__(self) -> Iterator[Row]:
        lacking: InvalidInput | None = None
        n_read = 0
        for name, data, packed in archive.unpacked(self._files, self._max_bytes, self.notes):
            self.notes.names.append(name)
            try:
                rows = self._open(name, data)
            except InvalidInput as error:
                if not packed:
                    raise
                # Archives hold test files without labels, icons, and notes about the data.
                lacking = lacking or error
                self.notes.names.pop()
                self.notes.say(f"Not read: {error}")
                continue
            n_read += 1
            split = _split_by_name(name) if packed and "split" in self.kind.roles else None
            for row in rows:
                if len(self._preview) < _PREVIEWED:
                    names, cells = _preview_cells(row.item)
                    self._fields = self._fields or names
                    if names == self._fields:  # a text beside a treebank has others
                        self._preview.append(cells)
                yield replace(row, file=len(self.notes.names) - 1, split=row.split or split)
        if lacking is not None and not n_read:
            raise lacking

    def _open(self, name: str, data: bytes) -> Iterable[Row]:
        if data.startswith(parquet.BEGINS):
            if not self.kind.roles:
                raise InvalidInput(f"{name} is a Parquet table, not a treebank. Bring one in CoNLL-U.")
            table = parquet.table(data, name, self.notes)
        else:
            text = Text.decode(data, name)
            for note in text.notes:
                self.notes.say(f"{name}: {note[0].lower()}{note[1:]}")
            parsed = self.kind.parse(text, self._choices, self.notes)
            if parsed is not None:
                self._formats[parsed[0]] = None
                return parsed[1]
            table = self.kind.open_text(self.kind, text, self._choices, self.notes)
        self.notes.unit = table.unit
        places = place(self.kind.name, self.kind.roles, table, self._choices, self.notes)
        self._formats[table.format] = None
        self._check_same(name, table, places)
        return self.kind.rows(table, places, Place(name, table.unit, self.notes))

    def _check_same(self, name: str, table: Table, places: Mapping[str, int]) -> None:
        """Raises InvalidInput where the files of an archive are different sets of data."""
        columns = {role: table.names[place] for role, place in places.items()}
        if self._table is None:
            self._table = table, places
        before = {role: self._table[0].names[place] for role, place in self._table[1].items()}
        if columns != before and "split" in self.kind.roles:
            raise InvalidInput(
                f"{name}: its columns ({named(columns.values())}) are not those of {self.notes.names[0]} "
                f"({named(before.values())}). Bring one set of data at a time."
            )

    def report(self, n_items: int) -> Report:
        """How the files were read, so far. Raises InvalidInput where no item is left."""
        table, places = self._table or (Table("", [], iter(())), {})
        used = set(places.values())
        report = Report(
            self.kind.name,
            tuple(self.notes.names),
            " and ".join(self._formats),
            n_items,
            self.kind.noun,
            self.notes.unit,
            {role: table.names[at] for role, at in places.items()},
            tuple(name for at, name in enumerate(table.names) if at not in used and name not in table.used),
            table.samples,
            self.kind.roles if self._table else {},
            table.header,
            table.quoting,
            self.notes.left_out(),
            self.notes.remarks(),
            self._fields,
            tuple(self._preview),
        )
        if not n_items:
            names = ", ".join((self.notes.names or [name for name, _ in self._files])[:5])
            raise InvalidInput(
                f"{names}: there is no {self.kind.noun} to use. Choose a file with {self.kind.noun}s. "
                f"{' '.join(report.remarks)}".rstrip()
            )
        return report


def _split_by_name(name: str) -> Split | None:
    """The split that a file of an archive is named for: "train.tsv", "dev_matched.tsv"."""
    stem = posixpath.splitext(posixpath.basename(name))[0].lower()
    return next((SPLITS[part] for part in stem.replace("-", "_").split("_") if part in SPLITS), None)


def _preview_cells(item: Item) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of an item's fields and their values as texts, for a preview."""
    names: tuple[str, ...] = tuple(field.name for field in fields(item) if field.name != "cluster")
    if isinstance(item, ParsedSentence):
        names = ("text", "upos", "deprel")
    elif isinstance(item, PassageQuestion):
        names = ("question", "context", "answers")
    return names, tuple(_cell(getattr(item, name)) for name in names)


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return clipped(" ".join(_cell(element) for element in value[:40]), _LONGEST)
    return "" if value is None else clipped(str(value), _LONGEST)
