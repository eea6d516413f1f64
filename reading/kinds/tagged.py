"""Sentences whose words have a tag each: lists of both in a row, or a word a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from reading.columns import NAMES, normalized
from reading.data import Choices, Notes, Role, Row, Table
from reading.formats import conll, conllu, delimited, jsons
from reading.items import Tagged
from reading.kinds.base import SPLIT, Kind, Place, cells_of, is_json, split_of, to_list
from reading.text import Text, clipped, plain

_NO_TAG: Final = re.compile(r"""['"\[\](),]""")
_TOKENS, _TAGS = Role("words"), Role("tags")


def _open(_kind: Kind, text: Text, choices: Choices, notes: Notes) -> Table:
    if is_json(text):
        return jsons.table(text, notes, by_columns=False)
    if conllu.looks_so(text):
        return conllu.table(text)
    header = set(map(normalized, delimited.first_cells(text)))
    if header & {*NAMES["tokens"]} and header & {*NAMES["tags"]}:
        return delimited.table(text, choices, notes, known=True)
    word, tag = (next((name for name in NAMES[role] if name in header), None) for role in ("word", "tag"))
    if word and tag and (delimited.separator_of(text) != "\t" or header & {*NAMES["sentence number"]}):
        return _sentences_of(delimited.table(text, choices, notes, known=True), word, tag, notes)
    return conll.table(text, notes)


def _sentences_of(table: Table, word: str, tag: str, notes: Notes) -> Table:
    """A table with a word a row as one with a sentence a row: a sentence's number stands in its first row, or in all;
    without numbers an empty line ends it.
    """
    names = [*map(normalized, table.names)]
    mark = next((names.index(name) for name in NAMES["sentence number"] if name in names), None)

    def rows() -> Iterator[tuple[int, list[Any]]]:
        lines: list[list[Any]] = []
        start, number = 0, ""
        for line, row in chain(table.rows, [(-1, [])]):
            written = row[mark].strip() if row and mark is not None else ""
            written = "" if written.lower() == "nan" else written  # as pandas writes an empty cell
            if lines and (not row or (written and written != number)):
                yield start, [[cells[place] for cells in lines] for place in range(len(names))]
                lines = []
            if row:
                start = start if lines else line
                number = written or number
                lines.append(row)

    columns = {"tokens": table.names[names.index(word)], "tags": table.names[names.index(tag)]}
    by_sentence = Table(f"{table.format}, a word a row", table.names, rows(), table.samples, columns=columns)
    by_sentence.header, by_sentence.quoting = table.header, table.quoting
    if mark is not None:
        by_sentence.used = (table.names[mark],)
        notes.say(f"A sentence begins where “{table.names[mark]}” changes.")
    return by_sentence


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    for line, cells in cells_of(table, places):
        words, tags = (_words(cells[role], place.label(line)) for role in ("tokens", "tags"))
        odd = next((tag for tag in tags if isinstance(cells["tags"], str) and _NO_TAG.search(tag)), None)
        if odd is not None:
            raise InvalidInput(
                f"{place.label(line)}: “{clipped(odd)}” is not a tag. Write lists of tags as JSON, or tags with spaces "
                "between."
            )
        if len(words) != len(tags):
            raise InvalidInput(
                f"{place.label(line)}: {counted(len(words), 'word')} and {counted(len(tags), 'tag')}. "
                "Each word needs a tag of its own."
            )
        if tags and all(tag.removeprefix("-").isdigit() for tag in tags):
            raise InvalidInput(
                f"{place.label(line)}: the tags are numbers ({', '.join(islice(tags, 5))}), which stand for names that "
                "this file does not have. Export the names of the tags, such as B-PER, in their place."
            )
        if words and all(words) and all(tags):
            yield Row(Tagged(words, tags), line, split_of(cells, line, place))
        else:
            place.notes.leave_out("sentences without a word and a tag in every place", line)


def _words(value: Any, where: str) -> tuple[str, ...]:
    """The words of a list, also of one written into a cell; of another text those between spaces."""
    words = to_list(value, where)
    return tuple(plain(part).strip() for part in (plain(value).split() if words is None else words))


KIND: Final = Kind("tagged", "sentence", {"tokens": _TOKENS, "tags": _TAGS, "split": SPLIT}, _rows, _open)
