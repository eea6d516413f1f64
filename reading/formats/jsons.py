"""JSON: lines with one object each, a list of objects, and questions on passages as SQuAD has them.

Documents are read piece by piece by ijson, so that a list of many objects is never in memory as a whole.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

import ijson
import numpy as np

from model_zoo.errors import InvalidInput
from reading import progress
from reading.data import Notebook, Table
from reading.text import MAX_CELL, Text

_DEEPEST: Final = 100  # brackets inside of each other; ijson's memory grows with their square
_STRINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_LOOKED_AT: Final = 1_000  # objects whose keys are the columns
_OPENING: Final = (ord("["), ord("{"))
_LONGEST_OBJECT: Final = 1_000_000  # characters
_SQUAD_COLUMNS: Final = ["question", "context", "answers"]


def table(text: Text, notes: Notebook) -> Table:
    """Objects as rows under their keys. Raises InvalidInput with the line for what is no JSON, or no objects."""
    if _is_one_document(text):
        return _document(text, notes)
    return _of_objects("JSON lines", _lines(text), "line")


def _is_one_document(text: Text) -> bool:
    """A list, or an object that holds one as SQuAD does, or that does not end on its first line."""
    line = text.first_line
    if line.startswith("[") or len(line) > _LONGEST_OBJECT:
        return True
    try:
        return isinstance(_load(line).get("data"), list)
    except ValueError:
        return not _begins_objects(text)


def _begins_objects(text: Text) -> bool:
    """Whether the next line that is not empty is an object's beginning, too: then the first line is malformed."""
    lines = (line.lstrip() for line in text.head if line.strip())
    return next(islice(lines, 1, None), "").startswith("{")


def _load(line: str) -> Any:
    """What a line holds. Numbers stay as they are written: one of 5,000 digits is none that Python reads.

    Raises ValueError, its message fit for a sentence.
    """
    try:
        return json.loads(line, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise ValueError("objects nested too deeply") from error


def _lines(text: Text) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in text.numbered():
        if not line.strip():
            continue
        try:
            value = _load(line)
        except ValueError as error:
            raise InvalidInput(
                f"{text.name}, line {number:,}: this is not a JSON object ({error}). "
                "JSON lines have one complete object per line."
            ) from error
        if not isinstance(value, dict):
            raise InvalidInput(
                f"{text.name}, line {number:,}: this is not a JSON object. JSON lines have one per line, without a "
                "list around them."
            )
        _check_length(value, f"{text.name}, line {number:,}")
        yield number, value


def _check_length(value: dict[str, Any], where: str) -> None:
    if any(isinstance(cell, str) and len(cell) > MAX_CELL for cell in value.values()):
        raise InvalidInput(f"{where}: a text has more than {MAX_CELL:,} characters. Shorten it.")


def _of_objects(format_: str, objects: Iterator[tuple[int, dict[str, Any]]], unit: str) -> Table:
    """Rows of objects. The columns are the keys of the first thousand."""
    first = [*islice(objects, _LOOKED_AT)]
    if len(first) == 1 and first[0][1]:
        columns = [[*value.values()] if isinstance(value, dict) else value for value in first[0][1].values()]
        if all(isinstance(column, list) and len(column) > 1 for column in columns):  # as pandas writes them
            by_row = enumerate(zip(*columns, strict=False), start=1)
            return Table("JSON by columns", [*first[0][1]], ((n, [*row]) for n, row in by_row), unit="row")
    names = [*dict.fromkeys(key for _, value in first for key in value)]
    rows = ((number, [value.get(name) for name in names]) for number, value in chain(first, objects))
    table = Table(format_, names, rows, unit=unit)
    table.sample([[value.get(name) for name in names] for _, value in first])
    return table


def _document(text: Text, notes: Notebook) -> Table:
    is_list = text.first_line.startswith("[")
    items = _items(text, "item" if is_list else "data.item")
    first = next(items, None)
    if first is None:
        what = "the list is empty" if is_list else "there is no list “data” of objects in it"
        raise InvalidInput(
            f"{text.name}: {what}. Bring JSON lines, one object per line, a list of objects, or SQuAD's format."
        )
    if isinstance(first, dict) and "paragraphs" in first:
        table = Table("SQuAD’s JSON", _SQUAD_COLUMNS, _squad(chain([first], items), text.name), unit="question")
        some = [*islice(table.rows, 1)]
        table.sample([row for _, row in some])
        table.rows = chain(some, table.rows)
        notes.unit = "question"
        return table
    notes.unit = "record"
    return _of_objects("a JSON list", _records(chain([first], items), text.name), "record")


def _items(text: Text, prefix: str) -> Iterator[Any]:
    """The items of a list in a document. Raises InvalidInput with the line where the JSON is malformed."""
    brackets = np.frombuffer(_STRINGS.sub(b"", text.data).translate(None, _NO_BRACKETS), dtype=np.uint8)
    if np.cumsum(np.isin(brackets, _OPENING) * 2 - 1, dtype=np.int64).max(initial=0) > _DEEPEST:
        raise InvalidInput(f"{text.name}: its lists and objects are nested more than {_DEEPEST} deep. Flatten them.")
    data = _Counted(text.data)
    try:
        yield from ijson.items(data, prefix)
    except (ijson.JSONError, ValueError, ArithmeticError, RecursionError) as error:
        where, why = "", "it is nested too deeply, or a number is too large"
        try:
            json.loads(text.data, parse_int=str, parse_float=str)
        except json.JSONDecodeError as by_place:
            where, why = f", line {by_place.lineno:,}", by_place.msg
        except RecursionError:
            pass
        raise InvalidInput(
            f"{text.name}{where}: this is not well-formed JSON ({why}). Check that the file is whole."
        ) from error


class _Counted(io.BytesIO):
    """Bytes that are counted as they are read."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        progress.count(len(data))
        return data


def _records(items: Iterator[Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, value in enumerate(items, start=1):
        if not isinstance(value, dict):
            raise InvalidInput(f"{name}, record {number:,}: this is not a JSON object. Write {{…}} for each.")
        _check_length(value, f"{name}, record {number:,}")
        yield number, value


def _squad(articles: Iterator[Any], name: str) -> Iterator[tuple[int, list[Any]]]:
    """Questions of SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), in which none that is impossible has an answer."""
    number = 0
    for a, article in enumerate(articles, start=1):
        for p, passage in enumerate(_list(article, "paragraphs", f"{name}, article {a:,}"), start=1):
            where = f"{name}, article {a:,}, passage {p:,}"
            for question in _list(passage, "qas", where):
                number += 1
                if not isinstance(question, dict):
                    raise InvalidInput(f"{where}: a question is not a JSON object. Write it as SQuAD does.")
                answers = [] if question.get("is_impossible") is True else question.get("answers", [])
                yield number, [question.get("question"), passage.get("context"), answers]


def _list(holder: Any, key: str, where: str) -> list[Any]:
    value = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(value, list):
        raise InvalidInput(f"{where}: there is no list “{key}”. SQuAD's format has data, paragraphs and qas.")
    return value
