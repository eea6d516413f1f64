"""Words in columns as in the CoNLL shared tasks: a word a line, tabs or spaces between, empty lines after sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from reading.data import Notes, Table
from reading.text import MAX_CELL, Text, clipped

MAX_WORDS: Final = 2_000

_COMMENT: Final = re.compile(r"# ?[^\t=]*=|#\t|# id ")  # as in CoNLL-U "# sent_id = 1"; as in GermEval, MultiCoNER
_TAG: Final = re.compile(r"O|[BIESLU]-\S+")
_LANGUAGE: Final = re.compile(r"([a-z]{2,3}(?:-[a-z]+)?):")
_2012: Final = "#begin document"
_2012_WORD, _2012_NAMES = 3, 10  # columns of the word, and of the named entities in brackets
_WORDS, _TAGS = {"word", "words", "token", "tokens", "form", "text"}, {"tag", "tags", "ner", "ner_tag", "label"}
_LOOKED_AT: Final = 200  # lines
_FEWEST: Final = 3


def looks_so(text: Text) -> bool:
    """Whether a text is in such columns by the look of it: nearly every line ends in a tag of an entity, or it begins
    as those of 2003 or 2012 do.
    """
    if text.first_line.startswith(("-DOCSTART-", _2012)):
        return True
    lines = [line for line in text.head[:_LOOKED_AT] if line.strip() and not _COMMENT.match(line)]
    cells = [line.split() for line in lines]
    return len(lines) >= _FEWEST and sum(len(row) > 1 and bool(_TAG.fullmatch(row[-1])) for row in cells) > 0.9 * len(
        lines
    )


def table(text: Text, notes: Notes) -> Table:
    """Sentences as rows, whose values are lists with one entry a word. The columns are named by the first line where
    that holds names, else "column 1", "column 2" ...; the words are in the first, or in the second where the first
    holds running numbers, and their tags in the last.

    Raises InvalidInput with the line where there is one column only.
    """
    if text.first_line.startswith(_2012):
        return _read_2012(text, notes)
    sentences = _sentences(text, notes)
    first = [*islice(sentences, 3)]
    if not first:
        raise InvalidInput(f"{text.name} has no line with a word and its tag. Write both, with a tab between.")
    names = _named(text) or [f"column {n}" for n in range(1, len(first[0][1]) + 1)]
    words, tags = 0, len(names) - 1
    several = [word for _, row in first for word in row[0] if " " in word]
    if len(several) > sum(len(row[0]) for _, row in first) / 2:
        raise InvalidInput(
            f"{text.name}, line {first[0][0]:,}: “{clipped(several[0])}” is more than a word. In columns each line has "
            "one word and its tag; in a table lists of them, in columns named tokens and tags."
        )
    if len(names) > 2 and all(_runs(row[0]) for _, row in first) and any(len(row[0]) > 1 for _, row in first):
        words = 1
        notes.say(f"The column “{names[0]}” holds running numbers; the words are in “{names[1]}”.")
        # GermEval 2014 has a second column of tags, for entities inside of others.
        if len(names) == 4 and all(_TAG.fullmatch(tag) for _, row in first for tag in row[2]):
            tags = 2
    language = _language(first, words)
    if language:
        notes.say(f"“{language}” before every word was taken off.")
    rows: Iterator[tuple[int, list[Any]]] = chain(first, sentences)
    if language:
        rows = _without(rows, words, language)
    columns = {"tokens": names[words], "tags": names[tags]} if names else {}
    table = Table("words in columns (CoNLL)", names, rows, columns=columns, header=None)
    table.look_at(1)
    notes.unit = "line"
    return table


def _read_2012(text: Text, notes: Notes) -> Table:
    """OntoNotes as in the shared task of 2012, whose spans are in brackets over several lines."""
    names = [f"column {n}" for n in range(1, _2012_NAMES + 2)]
    rows = (
        (line, [*row[:_2012_NAMES], _tags_from_brackets(row[_2012_NAMES])])
        for line, row in _sentences(text, notes, most=11)
    )
    return Table(
        "words in columns (CoNLL-2012)",
        names,
        iter(rows),
        columns={"tokens": names[_2012_WORD], "tags": names[_2012_NAMES]},
    )


def _tags_from_brackets(column: list[str]) -> list[str]:
    """(PER* *) * in IOB2: B-PER I-PER O."""
    tags, inside = [], ""
    for cell in column:
        opened = re.match(r"\(([^(*)]+)", cell)
        inside = opened[1] if opened else inside
        tags.append(f"{'B' if opened else 'I'}-{inside}" if inside else "O")
        inside = "" if cell.endswith(")") else inside
    return tags


def _cells(line: str) -> list[str]:
    line = line if "\t" in line else line.strip()
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _named(text: Text) -> list[str] | None:
    cells = _cells(text.first_line)
    return cells if len(cells) > 1 and cells[0].lower() in _WORDS and cells[-1].lower() in _TAGS else None


def _sentences(text: Text, notes: Notes, most: int | None = None) -> Iterator[tuple[int, list[Any]]]:
    """Sentences as lists of columns, of which ``most`` are kept, with the line of their first word. One with a line of
    another number of columns is left out.
    """
    named = _named(text)
    width = len(named) if named else 0
    lines: list[list[str]] = []
    start = n_whole = n_broken = 0
    broken = first_broken = (0, 0)
    for number, line in chain(text.numbered(), [(-1, "")]):
        if not line.strip():
            if broken[0]:
                n_broken += 1
                first_broken = first_broken if n_broken > 1 else broken
                notes.leave_out("sentences with a line of another number of columns", broken[0])
            elif lines:
                n_whole += 1
                yield start, [list(column) for column in zip(*lines, strict=True)]
            lines, start, broken = [], 0, (0, 0)
            continue
        if line.startswith(("-DOCSTART-", "#begin document", "#end document")):
            continue
        cells = _cells(line)
        if _COMMENT.match(line) and not _TAG.fullmatch(cells[-1]):
            continue
        if named and cells == named and not start:
            named = None
            continue
        start = start or number
        if len(cells) < 2:
            raise InvalidInput(
                f"{text.name}, line {number:,}: 1 column. Each line has a word first and its tag last, with a tab or "
                "spaces between; an empty line ends a sentence."
            )
        cells = cells[: most or len(cells)]
        width = width or len(cells)
        if len(cells) != width:
            broken = broken if broken[0] else (number, len(cells))
        if len(line) > MAX_CELL or len(lines) >= MAX_WORDS:
            raise InvalidInput(
                f"{text.name}, line {number:,}: a line of more than {MAX_CELL:,} characters, or a sentence of more "
                f"than {counted(MAX_WORDS, 'word')}. Put an empty line after every sentence."
            )
        lines.append(cells)
    if n_broken > n_whole:
        raise InvalidInput(
            f"{text.name}, line {first_broken[0]:,}: {counted(first_broken[1], 'column')} where the lines before have "
            f"{width}, and so in most sentences. Each line has a word first and its tag last; an empty line ends a "
            "sentence."
        )


def _runs(numbers: list[str]) -> bool:
    return numbers == [str(n) for n in range(1, len(numbers) + 1)] or numbers == [str(n) for n in range(len(numbers))]


def _language(sentences: list[tuple[int, list[Any]]], words: int) -> str:
    """The language that stands before every word (as WikiANN has it): "en:"."""
    marks = {match[0] if (match := _LANGUAGE.match(word)) else "" for _, row in sentences for word in row[words]}
    return marks.pop() if len(marks) == 1 else ""


def _without(rows: Iterator[tuple[int, list[Any]]], words: int, mark: str) -> Iterator[tuple[int, list[Any]]]:
    for line, row in rows:
        row[words] = [word.removeprefix(mark) for word in row[words]]
        yield line, row
