"""Sentences of a treebank with their trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from model_zoo.errors import InvalidInput
from reading.data import Choices, Notes, Row, Table
from reading.formats import conllu
from reading.kinds.base import Kind
from reading.text import Text


def _parse(text: Text, _choices: Choices, notes: Notes) -> tuple[str, Iterator[Row]]:
    return "a treebank (CoNLL-U)", (Row(sentence, line) for line, sentence in conllu.sentences(text, notes))


def _open(_kind: Kind, text: Text, _choices: Choices, _notes: Notes) -> Table:
    raise InvalidInput(f"{text.name} is no treebank. Bring one in CoNLL-U, with ten columns.")


KIND: Final = Kind("trees", "sentence", {}, lambda *_: iter(()), _open, _parse)
