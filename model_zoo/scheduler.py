"""How questions come to run on a model: so many runs at a time, first come first served, those alike together.

A question that has its turn takes along other waiting questions of the same kind, to the same model and of similar
length, and runs them as one padded batch. No question waits for others to come: a lone question runs at once.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from model_zoo.errors import InvalidInput
from model_zoo.fair_queue import FairQueue, Turn

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel
    from model_zoo.question import Question

Result = TypeVar("Result")
Piece = TypeVar("Piece")

# What comes in batches has a turn for so long, then others have theirs.
SECONDS_A_TURN = 0.1

# A batch takes the time of its longest text, so texts may differ by this factor and no more.
_SIMILAR = 2.0


@dataclass(eq=False)
class _Pending:
    """A question that waits for its turn, and the answer that may come with somebody else's."""

    question: Question[Any]
    loaded: LoadedModel
    answer: Future[Any] = field(default_factory=Future)

    def goes_with(self, other: _Pending) -> bool:
        mine, theirs = self.question, other.question
        shorter, longer = sorted((mine.n_characters, theirs.n_characters))
        return (
            type(mine) is type(theirs)
            and self.loaded is other.loaded
            and mine.together == theirs.together
            and longer <= _SIMILAR * shorter
        )


class Scheduler:
    """Runs questions on loaded models: ``runs`` at a time, up to ``batch`` of a kind together."""

    def __init__(self, runs: int, batch: int) -> None:
        self.queue = FairQueue(runs)
        self._batch = batch
        self.n_answered = 0
        self.n_runs = 0

    def answer(self, question: Question[Result], loaded: LoadedModel) -> Result:
        """The answer, computed when it is this question's turn or along with another's."""
        if not question.runs_model:
            return question.answer(loaded)
        pending = _Pending(question, loaded)
        with self.queue.turn(pending) as mine:
            if mine:
                others: list[Turn] = []
                if self._batch > 1 and type(question).answers_together():
                    others = self.queue.take(pending.goes_with, self._batch - 1)
                self.n_runs += 1
                self.n_answered += 1 + len(others)
                if not others:
                    return question.answer(loaded)
                self._run(pending, others)
        return pending.answer.result()

    def _run(self, first: _Pending, others: list[Turn]) -> None:
        """Answer all in one batch; where that fails, each by itself, so that each has the failure it has alone."""
        waiting = {1 + place: turn for place, turn in enumerate(others)}
        every = [first, *(turn.work for turn in others)]
        try:
            try:
                together = type(first.question).answer_all(first.loaded, [pending.question for pending in every])
                for place, answer in together:
                    every[place].answer.set_result(answer)
                    if place in waiting:
                        waiting.pop(place).dismiss()
            except Exception:
                for place, pending in enumerate(every):
                    if not pending.answer.done():
                        _answer(pending)
                        if place in waiting:
                            waiting.pop(place).dismiss()
        finally:
            self.queue.put_back(list(waiting.values()))

    def in_turns(
        self, parts: Iterable[Piece], *, long: bool, seconds: float = SECONDS_A_TURN
    ) -> Generator[Piece, None, None]:
        """What is computed part by part, as many in a turn as ``seconds`` are enough for; others go in between.

        With 0 there is one part a turn, and nothing is computed before somebody wants it.
        """
        iterator = iter(parts)
        ended = False
        with closing(iterator) if isinstance(iterator, Generator) else nullcontext():
            while not ended:
                with self.queue.turn(long=long):
                    self.n_runs += 1
                    parts_done, ended = _some(iterator, seconds)
                yield from parts_done
        self.n_answered += 1


def _answer(pending: _Pending) -> None:
    try:
        pending.answer.set_result(pending.question.answer(pending.loaded))
    except Exception as error:
        pending.answer.set_exception(error)


def _some(parts: Iterator[Piece], seconds: float) -> tuple[list[Piece], bool]:
    """The parts that so many seconds are enough for, at least one, and whether they were the last."""
    begun = time.monotonic()
    taken = []
    for part in parts:
        taken.append(part)
        if time.monotonic() - begun >= seconds:
            return taken, False
    return taken, True


def together(questions: Sequence[Question[Result]]) -> list[list[Question[Result]]]:
    """The questions in groups that are answered together, each question once."""
    groups: dict[Hashable, list[Question[Result]]] = {}
    for question in dict.fromkeys(questions):
        groups.setdefault((type(question), question.model, question.together), []).append(question)
    return list(groups.values())


def answers(
    questions: Sequence[Question[Result]], missing: Sequence[Question[Result]], loaded: LoadedModel
) -> Iterator[tuple[int, Result]]:
    """The answers to those that are missing, which are of one group; a failure that is about one of several
    ``questions`` names it.
    """
    if not missing:
        return
    try:
        yield from type(missing[0]).answer_all(loaded, missing)
    except InvalidInput as error:
        if error.which is None or len(questions) == 1:
            raise
        place = questions.index(missing[error.which])
        raise InvalidInput(f"Text {place + 1}: {error}", place) from error
