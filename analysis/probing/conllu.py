"""The sentences of a CoNLL-U file: each text assembled from its words, with their labels and heads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from analysis.files import each_line
from model_zoo.errors import InvalidInput
from model_zoo.types import counted

HEAD_DISTANCE_LIMIT = 5
CoNLLTarget = Literal["upos", "deprel", "head_distance"]
# Sentences are put together word by word, and trees compare every word with every other. The longest sentences of
# treebanks have several hundred words.
MAX_WORDS = 2_000
MAX_FORM = 1_000
MAX_LABEL = 200
_NUMBER = "[0-9]{1,6}"
WORD_NUMBER = re.compile(f"({_NUMBER})(?:([-.])({_NUMBER}))?")
"""What the first column of a line holds: 1, 1-2 or 1.1."""


class Word:
    """A line of a CoNLL-U file that has characters of its own in the sentence."""

    __slots__ = ("deprel", "head", "number", "span", "upos")

    def __init__(self, number: int, span: tuple[int, int], upos: str, head: int | None, deprel: str) -> None:
        self.number, self.span, self.upos, self.head, self.deprel = number, span, upos, head, deprel

    def label(self, target: CoNLLTarget) -> str | None:
        if target == "upos":
            return None if self.upos == "_" else self.upos
        if target == "deprel":
            return None if self.deprel == "_" else self.deprel.partition(":")[0]
        if self.head is None:
            return None
        if self.head == 0:
            return "root"
        distance = self.head - self.number
        if abs(distance) >= HEAD_DISTANCE_LIMIT:
            return f"{'+' if distance > 0 else '−'}{HEAD_DISTANCE_LIMIT} or more"
        return f"{'+' if distance > 0 else '−'}{abs(distance)}"


class Sentence:
    """A sentence assembled from its lines. ``inside`` counts the words without characters of their own, ``empty`` the
    empty nodes, which are passed over.
    """

    def __init__(self) -> None:
        self.text = ""
        self.words: list[Word] = []
        self.inside = self.empty = 0
        self._space = False
        self._covered_to = 0  # last word of the multiword token read last
        self._last = 0
        self._heads: list[tuple[int | None, int]] = []

    def add(self, line: str, where: str) -> None:
        columns = line.split("\t")
        if len(columns) != 10:
            raise InvalidInput(
                f"{where}: {counted(len(columns), 'column')} instead of ten with tabs between. "
                "This is not a CoNLL-U line."
            )
        found = WORD_NUMBER.fullmatch(columns[0])
        if not found:
            raise InvalidInput(f"{where}: {columns[0][:40]!r} is not a word number (1, 1-2 or 1.1).")
        number, kind = int(found[1]), found[2]
        if kind == ".":
            self.empty += 1
            return
        form = columns[1].strip()
        if not form:
            raise InvalidInput(f"{where}: the second column, the word itself, is empty.")
        if len(form) > MAX_FORM or max(len(columns[3]), len(columns[7])) > MAX_LABEL:
            raise InvalidInput(
                f"{where}: a word of more than {MAX_FORM:,} characters, or a label of more than {MAX_LABEL}. "
                "Check the columns."
            )
        if number != self._last + 1:
            raise InvalidInput(f"{where}: word {number} follows word {self._last}. Words are numbered one by one.")
        if number > MAX_WORDS:
            raise InvalidInput(
                f"{where}: a sentence of more than {MAX_WORDS:,} words. Put an empty line after every sentence."
            )
        if kind == "-":
            if int(found[3]) < number:
                raise InvalidInput(f"{where}: the multiword token {columns[0]} ends before it begins.")
            self._append(form, columns[9])
            self._covered_to = int(found[3])
            return
        self._last = number
        head: int | None = None
        if columns[6] != "_":
            if not re.fullmatch(_NUMBER, columns[6]):
                raise InvalidInput(f"{where}: the head {columns[6][:40]!r} is not a word number.")
            head = int(columns[6])
        self._heads.append((head, int(where.rpartition(" ")[2])))
        if number <= self._covered_to:
            self.inside += 1
            return
        span = self._append(form, columns[9])
        self.words.append(Word(number, span, columns[3], head, columns[7]))

    def _append(self, form: str, misc: str) -> tuple[int, int]:
        if self._space:
            self.text += " "
        start = len(self.text)
        self.text += form
        self._space = "SpaceAfter=No" not in misc.split("|")
        return start, len(self.text)

    def finish(self, name: str) -> None:
        """Raises InvalidInput where a head points out of the sentence."""
        for head, line in self._heads:
            if head is not None and head > self._last:
                raise InvalidInput(
                    f"{name}, line {line}: the head is word {head}, but the sentence has {self._last} words."
                )

    @property
    def heads(self) -> list[int | None]:
        """The place of each word's head, from 0, with those inside multiword tokens; -1 for a root, None for none."""
        return [None if head is None else head - 1 for head, _ in self._heads]

    @property
    def line(self) -> int:
        """The number of the line of its first word."""
        return self._heads[0][1] if self._heads else 0


def sentences_of(text: str, name: str) -> Iterator[Sentence]:
    sentence = Sentence()
    for number, line in enumerate(each_line(text), start=1):
        if not line.strip():
            if sentence.text:
                sentence.finish(name)
                yield sentence
            sentence = Sentence()
        elif not line.startswith("#"):
            sentence.add(line, f"{name}, line {number}")
    if sentence.text:
        sentence.finish(name)
        yield sentence
