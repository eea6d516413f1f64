"""Treebanks in CoNLL-U: each text assembled from its words, with their labels and heads.

Ours and not a library's, because lines of errors, characters of words inside multiword tokens and a bound on memory
are what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final, NoReturn

from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from reading.data import Notes, Table
from reading.items import ParsedSentence
from reading.text import Text

# Sentences are put together word by word, and trees compare every word with every other. The longest sentences of
# treebanks have several hundred words.
MAX_WORDS: Final = 2_000
MAX_FORM: Final = 1_000
MAX_LABEL: Final = 200

COLUMNS: Final = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
INSIDE: Final = "words inside multiword tokens, which are not their words one after the other"

_NUMBER: Final = "[0-9]{1,6}"
_WORD_NUMBER: Final = re.compile(f"({_NUMBER})(?:([-.])({_NUMBER}))?")
_LOOKED_AT: Final = 20


def looks_so(text: Text) -> bool:
    """Whether any of the first lines has ten columns, of which the first is the number of a word."""
    lines = islice((line for line in text.head if line.strip() and not line.startswith("#")), _LOOKED_AT)
    rows = (line.split("\t") for line in lines)
    numbered = [bool(_WORD_NUMBER.fullmatch(row[0])) for row in rows if len(row) == len(COLUMNS)]
    return any(numbered) and numbered[0]  # else the first names the columns of a table that has ten


def sentences(text: Text, notes: Notes) -> Iterator[tuple[int, ParsedSentence]]:
    """The sentences, each with the line of its first word.

    The text is assembled from the forms and ``SpaceAfter=No``. Words inside a multiword token (1-2) have the characters
    of their own forms where these, one after the other, are the token (wo + n't), and are left out where they are not
    (du = de + le). Empty nodes (1.1) are left out, comments passed over but for ``# newdoc``, which begins a document.
    Raises InvalidInput with the number of the malformed line.
    """
    sentence, document = _Sentence(text.name), 0
    for number, line in text.numbered():
        if not line.strip():
            if sentence.text:
                yield sentence.finish(notes, document)
            sentence = _Sentence(text.name)
        elif not line.startswith("#"):
            sentence.add(line, number)
        elif line[1:].split()[:1] == ["newdoc"]:
            document += 1
    if sentence.text:
        yield sentence.finish(notes, document)


def table(text: Text) -> Table:
    """The sentences as rows under the names of the ten columns, whose values are lists with one entry a word."""

    def rows() -> Iterator[tuple[int, list[Any]]]:
        lines: list[list[str]] = []
        start = 0
        for number, line in chain(text.numbered(), [(-1, "")]):
            if not line.strip() and lines:
                yield start, [list(column) for column in zip(*lines, strict=True)]
                lines, start = [], 0
            elif line.strip() and not line.startswith("#"):
                cells = line.split("\t")
                if len(cells) != len(COLUMNS):
                    raise InvalidInput(f"{text.name}, line {number:,}: {counted(len(cells), 'column')} instead of ten.")
                if cells[0].isdigit():
                    start = start or number
                    lines.append(cells)

    table = Table("a treebank (CoNLL-U)", [*COLUMNS], rows(), columns={"tokens": "FORM"})
    table.look_at(1)
    return table


class _Sentence:
    """A sentence while it is read."""

    def __init__(self, name: str) -> None:
        self.text = ""
        self._name = name
        self._space = False
        self._last = 0
        self._words: list[tuple[int, tuple[int, int], str, str]] = []
        self._heads: list[int | None] = []
        self._lines: list[int] = []
        self._empty: list[int] = []
        self._inside: list[int] = []
        # The multiword token read last: its first character, its last word, and the words in it so far.
        self._token = (0, 0)
        self._covered_to = 0
        self._parts: list[tuple[int, str, str, str]] = []

    def add(self, line: str, number: int) -> None:
        columns = line.split("\t")
        if len(columns) != 10:
            self._refuse(
                number,
                f"{counted(len(columns), 'column')} instead of ten with tabs between. This is not a CoNLL-U line.",
            )
        match = _WORD_NUMBER.fullmatch(columns[0])
        if not match:
            self._refuse(number, f"{columns[0][:40]!r} is not a word number (1, 1-2 or 1.1).")
        place, mark = int(match[1]), match[2]
        if mark == ".":
            self._empty.append(number)
            return
        form = columns[1].strip()
        if not form:
            self._refuse(number, "the second column, the word itself, is empty.")
        if len(form) > MAX_FORM or max(len(columns[3]), len(columns[7])) > MAX_LABEL:
            self._refuse(
                number,
                f"a word of more than {MAX_FORM:,} characters, or a label of more than {MAX_LABEL}. Check the columns.",
            )
        if place != self._last + 1:
            self._refuse(number, f"word {place} follows word {self._last}. Words are numbered one by one.")
        if place > MAX_WORDS:
            self._refuse(
                number, f"a sentence of more than {MAX_WORDS:,} words. Put an empty line after every sentence."
            )
        if mark == "-":
            if int(match[3]) < place:
                self._refuse(number, f"the multiword token {columns[0]} ends before it begins.")
            self._end_token()
            self._token, self._covered_to = self._append(form, columns[9]), int(match[3])
            return
        self._last = place
        self._heads.append(self._head(columns[6], number))
        self._lines.append(number)
        if place <= self._covered_to:
            self._parts.append((place, form, columns[3], columns[7]))
            return
        self._end_token()
        self._words.append((place, self._append(form, columns[9]), columns[3], columns[7]))

    def _head(self, written: str, number: int) -> int | None:
        if written == "_":
            return None
        if not re.fullmatch(_NUMBER, written):
            self._refuse(number, f"the head {written[:40]!r} is not a word number.")
        return int(written) - 1  # of the root -1, which is ROOT

    def _append(self, form: str, misc: str) -> tuple[int, int]:
        if self._space:
            self.text += " "
        start = len(self.text)
        self.text += form
        self._space = "SpaceAfter=No" not in misc.split("|")
        return start, len(self.text)

    def _end_token(self) -> None:
        """Give the words inside a multiword token its characters, where their forms are the token."""
        start, end = self._token
        if "".join(form for _, form, _, _ in self._parts) == self.text[start:end]:
            for place, form, upos, deprel in self._parts:
                self._words.append((place, (start, start + len(form)), upos, deprel))
                start += len(form)
        else:
            self._inside += [self._lines[place - 1] for place, *_ in self._parts]
        self._parts = []

    def finish(self, notes: Notes, document: int) -> tuple[int, ParsedSentence]:
        """The line of the first word, and the sentence. Raises InvalidInput where a head points out of it."""
        self._end_token()
        for line, head in zip(self._lines, self._heads, strict=True):
            if head is not None and head >= self._last:
                self._refuse(line, f"the head is word {head + 1}, but the sentence has {self._last} words.")
        for line in self._empty:
            notes.leave_out("empty nodes, without characters", line)
        for line in self._inside:
            notes.leave_out(INSIDE, line)
        numbers, spans, upos, deprel = zip(*self._words, strict=True) if self._words else ((), (), (), ())
        parsed = ParsedSentence(self.text, spans, numbers, upos, deprel, tuple(self._heads), document)
        return self._lines[0] if self._lines else 0, parsed

    def _refuse(self, line: int, problem: str) -> NoReturn:
        raise InvalidInput(f"{self._name}, line {line:,}: {problem}")
