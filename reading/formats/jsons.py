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
from reading.columns import KNOWN, SQUAD, normalized
from reading.data import Notes, Table
from reading.text import MAX_FIRST_LINE, Text, check_cells, clipped

_DEEPEST: Final = 100  # brackets inside of each other; ijson's memory grows with their square
_STRINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{}\n"))
_FOREIGN: Final = {
    re.compile(rb"\d{4301}"): "a number of more than 4,300 digits",  # on which the parser in C ends the process
    re.compile(rb"\bNaN\b|\bInfinity\b"): "NaN and Infinity are not of JSON",
}
_LOOKED_AT: Final = 1_000  # objects whose keys are the columns
_OPENING: Final = (ord("["), ord("{"))
_CLOSING: Final = (ord("]"), ord("}"))
_BEGINS_SQUAD: Final = re.compile(r'\{.*"data"\s*:\s*\[')
_SQUAD_COLUMNS: Final = ["question", "context", "answers"]


def table(text: Text, notes: Notes, *, by_columns: bool = True) -> Table:
    """Objects as rows under their keys; one object of lists alone also as a table ``by_columns``. Raises InvalidInput
    with the line for what is no JSON, or no objects.
    """
    if _is_one_document(text):
        return _document(text, notes)
    return _table_of_objects("JSON lines", _lines(text), "line", notes, by_columns=by_columns)


def _is_one_document(text: Text) -> bool:
    """A list, or an object that holds one as SQuAD does, or that does not end on its first line."""
    line = text.first_line
    if line.startswith("[") or len(line) == MAX_FIRST_LINE:
        return True
    try:
        return isinstance(_load(line).get("data"), list)
    except ValueError:
        return bool(_BEGINS_SQUAD.match(line)) or not _begins_objects(text)


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
        check_cells(value.values(), text.name, "line", number)
        yield number, value


def _table_of_objects(
    format_: str, objects: Iterator[tuple[int, dict[str, Any]]], unit: str, notes: Notes, *, by_columns: bool = False
) -> Table:
    """Rows of objects. The columns are the keys of the first thousand, in small or capital letters."""
    first = [*islice(objects, _LOOKED_AT)]
    if by_columns and len(first) == 1 and first[0][1]:
        columns = [[*value.values()] if isinstance(value, dict) else value for value in first[0][1].values()]
        if all(isinstance(column, list) and len(column) > 1 for column in columns):  # as pandas writes them
            by_row = enumerate(zip(*columns, strict=False), start=1)
            return Table("JSON by columns", [*first[0][1]], ((n, [*row]) for n, row in by_row), unit="row")
    names: dict[str, str] = {}
    for _, value in first:
        for key in value:
            names.setdefault(normalized(key), key)

    def row(number: int, value: dict[str, Any]) -> list[Any]:
        by_name = {normalized(key): cell for key, cell in value.items()}
        late = next((key for key in value if normalized(key) not in names), None)
        if late is not None and normalized(late) in KNOWN:
            raise InvalidInput(
                f"{notes.names[-1]}, {unit} {number:,}: “{clipped(late)}” is not in the first {_LOOKED_AT:,} objects. "
                "Give it to all of them, or to none."
            )
        if late is not None:
            notes.say(f"Not read: “{clipped(late)}”, which the first {_LOOKED_AT:,} objects do not have.")
        return [by_name.get(name) for name in names]

    rows = ((number, row(number, value)) for number, value in chain(first, objects))
    table = Table(format_, [*names.values()], rows, unit=unit, first=first[0][0] if first else None)
    table.look_at(_LOOKED_AT)
    return table


def _document(text: Text, notes: Notes) -> Table:
    is_list = text.first_line.startswith("[")
    items = _items(text, "item" if is_list else "data.item")
    first = next(items, None)
    if first is None:
        problem = "the list is empty" if is_list else "there is no list “data” in it, or it is empty"
        raise InvalidInput(
            f"{text.name}: {problem}. Bring JSON lines, one object per line, a list of objects, or SQuAD's format."
        )
    if isinstance(first, dict) and "paragraphs" in first:
        table = Table(SQUAD, _SQUAD_COLUMNS, _squad(chain([first], items), text.name), unit="question")
        table.look_at(1)
        notes.unit = "question"
        return table
    notes.unit = "record"
    return _table_of_objects("a JSON list", _records(chain([first], items), text.name), "record", notes)


def _items(text: Text, prefix: str) -> Iterator[Any]:
    """The items of a list in a document. Raises InvalidInput with the line where the JSON is malformed."""
    _check_for_ijson(text)
    data = _Counted(text.data)
    try:
        yield from ijson.items(data, prefix)
    except (ijson.JSONError, ValueError, ArithmeticError, RecursionError) as error:
        where, why = "", "it cannot be parsed"
        try:
            # Every object is dropped as soon as it is parsed.
            json.loads(text.data, object_hook=lambda _: None, parse_int=str, parse_float=str)
        except json.JSONDecodeError as by_place:
            where, why = f", line {by_place.lineno:,}", by_place.msg
        except RecursionError:
            pass
        raise InvalidInput(
            f"{text.name}{where}: this is not well-formed JSON ({why}). Check that the file is whole."
        ) from error


def _check_for_ijson(text: Text) -> None:
    """Raises InvalidInput with the line for what takes too much memory there, or ends the process."""
    plain, at = bytearray(), 0
    for string in _STRINGS.finditer(text.data):  # sub() would keep all pieces until the end
        plain += text.data[at : string.start()]
        at = string.end()
    plain += text.data[at:]
    signs = np.frombuffer(plain.translate(None, _OTHERS), dtype=np.uint8)
    steps = np.isin(signs, _OPENING).astype(np.int8) - np.isin(signs, _CLOSING)
    too_deep = np.cumsum(steps, dtype=np.int32) > _DEEPEST
    if too_deep.any():
        line = int((signs[: int(too_deep.argmax())] == ord("\n")).sum()) + 1
        raise InvalidInput(
            f"{text.name}, line {line:,}: objects nested too deeply (more than {_DEEPEST} in each other). Flatten them."
        )
    for pattern, problem in _FOREIGN.items():
        match = pattern.search(plain)
        if match:
            line = plain.count(b"\n", 0, match.start()) + 1
            raise InvalidInput(f"{text.name}, line {line:,}: {problem}. Write it as a text, in quotes.")


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
        check_cells(value.values(), name, "record", number)
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
