"""Questions on passages, with their accepted answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from model_zoo.errors import InvalidInput
from reading.data import Role, Row, Split, Table
from reading.items import PassageQuestion
from reading.kinds.base import SPLIT, SPLITS, Kind, Place, cells_of, open_table, split_of, stripped, to_list, to_object
from reading.text import listed, plain

_ORDER: Final = tuple(dict.fromkeys(SPLITS.values()))


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    questions: dict[tuple[str, str], tuple[int, list[tuple[int, str]], Split | None]] = {}
    mended: list[int] = []
    several: list[int] = []
    n_joined = 0
    for line, cells in cells_of(table, places):
        question, context = stripped(cells, "question"), plain(cells.get("context"))
        if not (question and context.strip()):
            place.notes.leave_out(f"{place.unit}s without a question or a passage", line)
            continue
        if cells["answer"] is None:
            place.notes.leave_out(f"{place.unit}s without an answer, not even an empty one", line)
            continue
        spans = _accepted_answers(to_object(cells["answer"]), cells.get("answer_start"), place.label(line))
        answers: list[tuple[int, str]] = []
        for start, answer in spans:
            at = context.find(answer) if start is None else _nearest(context, answer, start)
            if at < 0:
                continue
            answers.append((at, answer))
            if start is None and context.find(answer, at + 1) >= 0:
                several.append(line)
            elif start is not None and at != start:
                mended.append(line)
        if len(answers) < len(spans):
            place.notes.leave_out(
                "answers that are not in their passage, letter by letter, and the question where it has no other", line
            )
            if not answers:
                continue
        split = split_of(cells, line, place)
        _, before, named = questions.get((question, context), (0, [], split))
        n_joined += (question, context) in questions
        before += answers
        questions[question, context] = line, before, max((split, named), key=_held_out)
    if mended:
        place.notes.say(
            "Answers that do not begin where the file says were found elsewhere in their passage "
            f"({listed(mended, place.unit)})."
        )
    if several:
        place.notes.say(
            "Where an answer is in its passage more than once, the first place was taken "
            f"({listed(several, place.unit)})."
        )
    if n_joined:
        place.notes.say(f"Repeated questions were joined with the answers they had before: {n_joined:,}.")
    for (question, context), (line, answers, split) in questions.items():
        yield Row(PassageQuestion(question, context, tuple(dict.fromkeys(answers))), line, split)


def _held_out(split: Split | None) -> int:
    return -1 if split is None else _ORDER.index(split)


def _accepted_answers(value: Any, start: Any, where: str) -> list[tuple[int | None, str]]:
    """Answers in any of the usual forms, without the empty ones: a text and its start, lists of both, or objects of
    ``text`` and ``answer_start``, as SQuAD has them.
    """
    if isinstance(value, dict):
        start = value.get("answer_start", start)
        value = value.get("text")
    listed_texts = _texts_of(value, where)
    listed_starts = to_list(start, where)
    texts: list[Any] = [value] if listed_texts is None else listed_texts
    starts: list[Any] = [start] * len(texts) if listed_starts is None else listed_starts
    answers: list[tuple[int | None, str]] = []
    for text, at in itertools.zip_longest(texts, starts[: len(texts)]):
        answer = text if isinstance(text, dict) else {"text": text, "answer_start": at}
        written = plain(answer.get("text"))
        first = _first_character(plain(answer.get("answer_start")).strip())
        if first is not None:
            first += len(written) - len(written.lstrip())
        if written.strip():
            answers.append((first, written.strip()))
    return list(dict.fromkeys(answers))


def _texts_of(value: Any, where: str) -> list[Any] | None:
    """The texts of a list, also in a cell; a text that only begins as one, or a number in brackets, is an answer."""
    if isinstance(value, str) and not value.lstrip().startswith(("['", '["', "[{", "array(")):
        return None
    try:
        return to_list(value, where)
    except InvalidInput:
        return None


def _first_character(written: str) -> int | None:
    """None where nothing is given; -1, where nothing begins, for what is not a place in a text."""
    if not written:
        return None
    return int(written) if written.isascii() and written.isdigit() and len(written) < 10 else -1


def _nearest(context: str, answer: str, start: int) -> int:
    """Where the answer begins in the passage, as near to ``start`` as can be; -1 where it is not in it."""
    after = context.find(answer, max(start, 0))
    before = context.rfind(answer, 0, max(start, 0) + len(answer))
    return min((place for place in (before, after) if place >= 0), key=lambda place: abs(place - start), default=-1)


KIND: Final = Kind(
    "questions",
    "question",
    {
        "question": Role("question"),
        "context": Role("passage"),
        "answer": Role("answer"),
        "answer_start": Role("answer’s first character", needed=False),
        "split": SPLIT,
    },
    _rows,
    open_table,
)
