"""Sentences: of plain text, of a table's column of texts, of columns of words, or of a treebank with their trees."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Final

from reading.columns import NAMES, normalized
from reading.data import Choices, Notes, Role, Row, Table
from reading.formats import conll, conllu, delimited, jsons, prose
from reading.items import PlainSentence
from reading.kinds.base import Kind, Place, cells_of, is_json, stripped, to_list
from reading.sentences import split
from reading.text import Text, plain

_TREEBANKS: Final = (".conllu", ".conll")
_TABLES: Final = (".csv", ".tsv", ".tab")
_SURE: Final = {"text", "sentence", *(name for name in NAMES["text"] if name[-1] in "1a")}
_ROLE: Final = {"text": Role("text")}


def _parse(text: Text, choices: Choices, notes: Notes) -> tuple[str, Iterator[Row]] | None:
    """A treebank, or plain text."""
    ending = posixpath.splitext(text.name.lower())[1]
    if conllu.looks_so(text):
        return "a treebank (CoNLL-U)", (Row(sentence, line) for line, sentence in conllu.sentences(text, notes))
    if is_json(text) or conll.looks_so(text) or _is_table(text, choices, ending):
        return None
    if ending in _TREEBANKS:
        return "a treebank (CoNLL-U)", (Row(sentence, line) for line, sentence in conllu.sentences(text, notes))
    rows = (Row(PlainSentence(sentence), line) for line, sentence in prose.sentences(text, notes))
    return "plain text", rows


def _is_table(text: Text, choices: Choices, ending: str) -> bool:
    """Whether the first line names a column of texts and others; it is not a sentence ("Text, however, is")."""
    names = delimited.first_cells(text)
    short = delimited.looks_like_names(names) and all(len(name.split()) <= 3 for name in names)
    known = any(normalized(name) in _SURE for name in names)
    wide = 1 < len(names) <= delimited.MAX_COLUMNS
    return bool(choices.columns) or ending in _TABLES or (wide and short and known)


def _open(_kind: Kind, text: Text, choices: Choices, notes: Notes) -> Table:
    if is_json(text):
        return jsons.table(text, notes)
    if conll.looks_so(text):
        table = conll.table(text, notes)
        return Table(
            table.format,
            table.names,
            table.rows,
            table.samples,
            columns={"text": table.columns["tokens"]},
        )
    cells = delimited.first_cells(text)
    known = any(normalized(cell) in NAMES["text"] for cell in cells)
    if len(cells) == 1:  # a name has no spaces; a sentence has
        known = len(cells[0].split()) < 2
        header = known if choices.header is None else choices.header
        choices = Choices(choices.columns, header, choices.quoting)
    table = delimited.table(text, choices, notes, known=known)
    if len(table.names) == 1:
        table.columns = {"text": table.names[0]}
    return table


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    for line, cells in cells_of(table, places):
        words = to_list(cells["text"]) if isinstance(cells["text"], list) else None
        if words is not None:
            yield Row(PlainSentence(" ".join(filter(None, map(plain, words)))), line)
            continue
        text = stripped(cells, "text")
        if not text:
            place.notes.leave_out("rows without a text", line)
        for sentence in split(text):
            yield Row(PlainSentence(sentence), line)


KIND: Final = Kind("sentences", "sentence", _ROLE, _rows, _open, _parse)
