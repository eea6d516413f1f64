"""The rows of a visitor's file: tables, JSON lines, CoNLL columns and SQuAD's JSON.

The format is recognized by how the file begins, never by its name. Only the form is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any

from analysis import files
from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from training.finetuning.data import Kind


@dataclass(frozen=True, slots=True)
class Column:
    """``what`` it holds, in a word or two, and the ``names`` it may have in a file, in any case; the first that a file
    has is read. A file may lack it where it is not ``needed``.
    """

    what: str
    names: tuple[str, ...]
    needed: bool = True


_TEXT = Column("the text", ("text", "sentence", "text1", "text_a", "sentence1", "premise"))
_PAIR = Column("the second text", ("text_pair", "pair", "text2", "text_b", "sentence2", "hypothesis"))
_SPLIT = Column("the split", ("split", "part"), needed=False)

COLUMNS: Mapping[Kind, Mapping[str, Column]] = {
    "classification": {
        "text": _TEXT,
        "pair": Column(_PAIR.what, _PAIR.names, needed=False),
        "label": Column("the label", ("label", "labels", "class", "category", "gold_label")),
        "split": _SPLIT,
    },
    "similarity": {
        "text": _TEXT,
        "pair": _PAIR,
        "score": Column("the score", ("score", "similarity", "similarity_score", "label")),
        "split": _SPLIT,
    },
    "answering": {
        "question": Column("the question", ("question",)),
        "context": Column("the passage", ("context", "passage", "paragraph")),
        "answer": Column("the answer", ("answer", "answers", "answer_text")),
        "answer_start": Column("the answer's first character", ("answer_start", "start"), needed=False),
        "split": _SPLIT,
    },
    "tagging": {
        "tokens": Column("the words", ("tokens", "words")),
        "tags": Column("their tags", ("tags", "ner_tags", "labels")),
        "split": _SPLIT,
    },
}
"""What the rows of a table, or the objects of JSON lines, are made of."""

_SQUAD = re.compile(r'\s*\{[^\[{]*"data"\s*:\s*\[')  # before the articles there is at most the version
_BRACKET_AND_TAG = re.compile(r'[\[{][ \t]+[^\s"\[\]{}]')  # the first word of a file in columns may be a bracket
_COMMENT = re.compile(r"# ?[^\t=]*=")  # as in CoNLL-U: "# sent_id = 1"
_WORDS_AND_TAGS = {"word", "words", "token", "tokens", "form", "text"}, {"tag", "tags", "ner", "ner_tag", "label"}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows with their numbers, each as the columns of its kind. Numbers count lines, or the questions of a file in
    SQuAD's format: ``unit``.
    """

    name: str
    unit: str
    each: Sequence[tuple[int, Mapping[str, Any]]]

    def where(self, number: int) -> str:
        return f"{self.name}, {self.unit} {number:,}"


def rows(text: str, name: str, kind: Kind) -> Rows:
    """What the text holds for a task of this kind. Raises InvalidInput with the line."""
    begin = files.first_line(text)
    if _SQUAD.match(text):
        if kind != "answering":
            raise InvalidInput(
                f"{name} holds questions on passages, in the format of SQuAD. Choose question answering for it."
            )
        return Rows(name, "question", list(_squad(_document(text, name), name)))
    if begin.startswith(("{", "[")) and not (kind == "tagging" and _BRACKET_AND_TAG.match(begin)):
        return Rows(name, "line", list(_from_json(text, name, kind)))
    if kind == "tagging" and not _names_columns(begin):
        return Rows(name, "line", list(_columns_of_words(text, name)))
    return Rows(name, "line", list(_from_table(text, name, kind)))


def shown(text: str, most: int = 40) -> str:
    """A visitor's text, for a sentence: on one line, cut where it is long."""
    line = " ".join(text[: 2 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _places(names: Sequence[str], kind: Kind, where: str, remark: str = "") -> dict[str, int]:
    """Where the columns of the kind are among these names. Raises InvalidInput for one that is needed and missing."""
    found = {}
    for column, known in COLUMNS[kind].items():
        place = next((names.index(name) for name in known.names if name in names), None)
        if place is not None:
            found[column] = place
        elif known.needed:
            *others, last = known.names
            accepted = f"{', '.join(others)} or {last}" if others else last
            raise InvalidInput(
                f"{where}: there is no column for {known.what} among “{shown(', '.join(names), 80)}”{remark}. "
                f"Name it {accepted}."
            )
    return found


def _from_table(text: str, name: str, kind: Kind) -> Iterator[tuple[int, dict[str, str]]]:
    separator = files.separator_name(files.first_line(text))
    table = files.rows(text, name)
    first, header = next(table)
    names = [cell.strip().lower() for cell in header]
    places = _places(names, kind, f"{name}, line {first}", f" ({separator} taken as separator)")
    for line, row in table:
        n_cells = len(row)
        while n_cells > len(header) and not row[n_cells - 1].strip():
            n_cells -= 1
        if n_cells != len(header):
            raise InvalidInput(
                f"{name}, line {line:,}: {counted(n_cells, 'column')} where the first line names {len(header)}. "
                f"If a text holds a {separator}, put it in quotes."
            )
        yield line, {column: row[place] for column, place in places.items()}


def _from_json(text: str, name: str, kind: Kind) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, found in files.json_lines(text, name):
        names, values = list(found), list(found.values())
        where = f"{name}, line {line:,}"
        row = {column: values[place] for column, place in _places(names, kind, where).items()}
        for value in row.values():
            if isinstance(value, str) and len(value) > files.MAX_CELL:
                raise InvalidInput(f"{where}: a text has more than {files.MAX_CELL:,} characters. Shorten it.")
        yield line, row


def _names_columns(header: str) -> bool:
    """Whether this is the first line of a table of sentences, not of words in columns."""
    names = {cell.strip(' "').lower() for cell in header.split(files.separator_of(header))}
    return bool(names & {*COLUMNS["tagging"]["tokens"].names}) and bool(names & {*COLUMNS["tagging"]["tags"].names})


def _columns_of_words(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Sentences in CoNLL's columns: the word first, its tag last, tabs or spaces between; an empty line ends one."""
    words: list[str] = []
    tags: list[str] = []
    start = width = 0
    for number, line in enumerate([*files.lines(text), ""], start=1):
        line = line.strip(" \t") if "\t" not in line else line
        if not line.strip():
            if words:
                yield start, {"tokens": words, "tags": tags}
            words, tags = [], []
            continue
        if line.startswith("-DOCSTART-") or _COMMENT.match(line):
            continue
        cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else re.split(" +", line)
        if not width and cells[0].lower() in _WORDS_AND_TAGS[0] and cells[-1].lower() in _WORDS_AND_TAGS[1]:
            continue  # the names of the columns
        width = width or len(cells)
        if len(cells) < 2:
            raise InvalidInput(
                f"{name}, line {number:,}: 1 column. Each line has a word first and its tag last, with a tab or "
                "spaces between; an empty line ends a sentence."
            )
        if len(cells) != width:
            raise InvalidInput(
                f"{name}, line {number:,}: {counted(len(cells), 'column')} where the lines before have {width}. "
                "Each line has a word first and its tag last."
            )
        start = start if words else number
        words.append(cells[0])
        tags.append(cells[-1])


def _document(text: str, name: str) -> Any:
    try:
        return files.read_json(text)
    except ValueError as error:
        where = f", line {error.lineno:,}" if isinstance(error, JSONDecodeError) else ""
        why = error.msg if isinstance(error, JSONDecodeError) else error
        raise InvalidInput(
            f"{name}{where}: this is not well-formed JSON ({why}). Check that the file is whole."
        ) from error


def _squad(document: Any, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Questions of SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), in which none that is impossible has an answer."""
    number = 0
    for a, article in enumerate(_list(document, "data", name), start=1):
        for p, passage in enumerate(_list(article, "paragraphs", f"{name}, article {a:,}"), start=1):
            where = f"{name}, article {a:,}, passage {p:,}"
            for asked in _list(passage, "qas", where):
                number += 1
                if not isinstance(asked, dict):
                    raise InvalidInput(f"{where}: a question is not a JSON object. Write it as SQuAD does.")
                answers = [] if asked.get("is_impossible") is True else asked.get("answers", [])
                yield (
                    number,
                    {"question": asked.get("question"), "context": passage.get("context"), "answer": answers},
                )


def _list(holder: Any, key: str, where: str) -> list[Any]:
    found = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(found, list):
        raise InvalidInput(f"{where}: there is no list “{key}”. SQuAD's format has data, paragraphs and qas.")
    return found
