"""Texts with a pronoun, the noun that it means and another noun: a table, or lines with marks in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import regex

from model_zoo.errors import InvalidInput
from reading.columns import normalized
from reading.data import Choices, Notes, Role, Row, Table
from reading.formats import delimited
from reading.items import Pronoun
from reading.kinds.base import Kind, Place, cells_of, open_table, stripped
from reading.sentences import plain_words
from reading.text import Text

_NEEDED: Final = ("text", "pronoun", "antecedent", "distractor")
# It means [this] or {that}: <it>.
_MARK: Final = regex.compile(
    r"\[(?P<antecedent>[^\[\]{}<>]+)\]|\{(?P<distractor>[^\[\]{}<>]+)\}|<(?P<pronoun>[^\[\]{}<>]+)>"
)
HOW: Final = (
    "Write a table with the columns text, pronoun, antecedent and distractor, or a sentence a line with marks in it, "
    "as in “The [cat] saw the {lamp} when <it> woke.”"
)


def _open(kind: Kind, text: Text, choices: Choices, notes: Notes) -> Table:
    named = set(map(normalized, delimited.first_cells(text))) & {*_NEEDED}
    if len(named) > 1 or choices.columns or text.first_line.startswith('{"'):
        return open_table(kind, text, choices, notes)
    return Table("sentences with marks", [*_NEEDED], _marked(text), columns={role: role for role in _NEEDED})


def _marked(text: Text) -> Iterator[tuple[int, list[Any]]]:
    for line, marked in text.numbered():
        if not marked.strip():
            continue
        where = f"{text.name}, line {line}"
        cells: dict[str, str] = {}
        plain, at = "", 0
        for mark in _MARK.finditer(marked):
            ((role, word),) = ((key, value) for key, value in mark.groupdict().items() if value is not None)
            if role in cells:
                raise InvalidInput(f"{where}: there are two marks for the {role}. Keep one.")
            plain += marked[at : mark.start()] + word
            cells[role] = str(len(plain_words(plain)))  # that of its last word
            at = mark.end()
        if missing := next((role for role in _NEEDED[1:] if role not in cells), None):
            raise InvalidInput(f"{where}: no {missing} is marked. {HOW}")
        # Spaces before it are no words: places stay as they are.
        yield line, [(plain + marked[at:]).strip(), *(cells[role] for role in _NEEDED[1:])]


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    for line, cells in cells_of(table, places):
        values = {role: stripped(cells, role) for role in places}
        if empty := next((role for role in _NEEDED if not values[role]), None):
            raise InvalidInput(f"{place.label(line)}: the {empty} is missing. Fill it in, or delete the line.")
        yield Row(Pronoun(**values), line)


KIND: Final = Kind(
    "pronouns",
    "pronoun",
    {
        "text": Role("text"),
        "pronoun": Role("pronoun"),
        "antecedent": Role("noun that is meant"),
        "distractor": Role("other noun"),
        "kind": Role("what tells them apart", needed=False),
        "nouns": Role("nouns", needed=False),
        "verb": Role("verb", needed=False),
    },
    _rows,
    _open,
)
