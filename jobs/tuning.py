"""Models tuned side by side: a job. One of them, several seeds of one, a race, a student beside its teacher."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from jobs.job import Job
from model_zoo import tuned
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError, NoRoomNow, OutOfMemory
from model_zoo.types import duration
from training.finetuning.data import Data
from training.finetuning.finetune import Finetune
from training.finetuning.predict import SoftScores
from training.finetuning.results import Evaluated, Event, FirstVectors, Started, Stepped, Tuned, best_of
from training.finetuning.settings import Settings

MOST_KEPT = 4
"""Models of earlier trainings that a visit keeps."""

_TAUGHT_AT_ONCE = 64  # texts that a teacher reads in a step: others wait for each to end


@dataclass(frozen=True)
class Candidate:
    """One model to be tuned; ``name`` is what the screen calls it. With a ``teacher``, the name of a candidate before
    it, it learns from that one's scores, too, and waits until they are there. ``keep`` keeps the tuned model's files.
    """

    name: str
    model: str
    data: Data
    settings: Settings
    teacher: str | None = None
    keep: bool = True


@dataclass
class Run:
    """What is known of a candidate so far; ``failed`` is a sentence. Written by the worker, read by the page."""

    candidate: Candidate
    id: str = field(default_factory=tuned.new_id)
    begun: Started | None = None
    steps: list[Stepped] = field(default_factory=list)
    evaluated: list[Evaluated] = field(default_factory=list)
    first_vectors: list[FirstVectors] = field(default_factory=list)
    tuned: Tuned | None = None
    failed: str | None = None

    @property
    def over(self) -> bool:
        return self.tuned is not None or self.failed is not None

    @property
    def best(self) -> int | None:
        """The number in ``evaluated`` of the epoch whose weights are kept so far; None before the first."""
        best = best_of(self.evaluated)
        return None if best is None else self.evaluated.index(best)

    @property
    def seconds(self) -> float:
        """How long it has been at work so far."""
        return self.steps[-1].seconds if self.steps else 0.0

    @property
    def share(self) -> float:
        """How much of its budget is used, in [0, 1]."""
        if self.over:
            return 1.0
        if self.begun is None or not self.steps:
            return 0.0
        limit = self.candidate.settings.seconds
        return min(1.0, self.seconds / limit if limit is not None else self.steps[-1].step / self.begun.n_steps)

    def note(self, event: Event) -> None:
        match event:
            case Started():
                self.begun = event  # with nothing where what a stopped training had learnt is gone
                self.steps, self.evaluated = list(event.steps), list(event.evaluated)
                self.first_vectors = list(event.first_vectors)
            case Stepped():
                self.steps.append(event)
            case Evaluated():
                self.evaluated.append(event)
            case FirstVectors():
                self.first_vectors.append(event)
            case Tuned():
                self.tuned = event


class Tuning(Job):
    """Candidates are trained in turns, the one with the fewest seconds of work so far first, so that curves grow
    together. One that finds no room in memory beside the others begins when one of those has ended, and the first one
    when another visitor's has.

    What is found stays when it is stopped, and ``resumed`` gives a job that goes on from there. A subclass is a kind of
    its own on a visitor's desk: one job of each at a time.
    """

    doing = "training"

    def __init__(self, engine: EngineInterface, candidates: Sequence[Candidate]) -> None:
        super().__init__()
        self.runs = tuple(Run(candidate) for candidate in candidates)
        self.earlier: list[Run] = []
        self._engine = engine
        self._began = time.monotonic()
        self._before = 0.0
        self._held_up = False

    def resumed(self) -> Tuning:
        """A job that goes on with what this one had begun."""
        job = type(self)(self._engine, ())
        job.runs, job.earlier, job._before = self.runs, self.earlier, self.share
        self.runs, self.earlier = (), []
        return job

    def with_more(self, candidates: Sequence[Candidate]) -> Tuning:
        """A job of these candidates that has this one's results for the first of them, whatever they are called now."""
        job = self.resumed()
        for run, candidate in zip(job.runs, candidates, strict=False):
            run.candidate = candidate
        job.runs = (*job.runs, *map(Run, candidates[len(job.runs) :]))
        job._before = job.share
        return job

    @property
    def tuned(self) -> tuple[Tuned, ...]:
        """The outcomes there are, in the order of the candidates."""
        return tuple(run.tuned for run in self.runs if run.tuned is not None)

    @property
    def can_go_on(self) -> bool:
        """Whether it was stopped before its end, and what it had learned was kept."""
        stopped = not self.running and self.stopping and self.failure is None
        return stopped and not all(run.over for run in self.runs)

    @property
    def share(self) -> float:
        return sum(run.share for run in self.runs) / max(1, len(self.runs))

    @property
    def held_up(self) -> bool:
        return self._held_up

    @property
    def progress(self) -> str:
        if self._held_up:
            return "Waiting for memory: other trainings have to end first"
        passed, share = time.monotonic() - self._began, self.share
        since = share - self._before
        left = f", about {duration(passed * (1 - share) / since)} left" if since > 0.03 else ""
        return f"{share:.0%} done{left}{self._last_step}"

    @property
    def _last_step(self) -> str:
        """The last loss, where a single model is being trained."""
        steps = [(run, run.steps[-1]) for run in self.runs if run.steps and not run.over]
        if len(steps) != 1:
            return ""
        ((run, step),) = steps
        total = f" of {run.begun.n_steps:,}" if run.begun is not None and run.begun.n_steps else ""
        return f" · step {step.step:,}{total}, loss {step.loss:.3f}"

    @property
    def n_ended(self) -> int:
        """Grows with every judgement, every outcome and every failure."""
        return sum(len(run.evaluated) + run.over for run in self.runs)

    def take_over(self, other: Tuning) -> None:
        """Keep the models of a job that this one follows, the last few of them."""
        every = [*other.earlier, *(run for run in other.runs if run.tuned is not None)]
        other.earlier, other.runs = [], tuple(run for run in other.runs if run.tuned is None)
        self._engine.forget_tuned([run.id for run in every[:-MOST_KEPT]])
        self.earlier = every[-MOST_KEPT:]

    @property
    def kept(self) -> list[Run]:
        """Lists the runs whose models can be opened, the first trained first."""
        return [run for run in (*self.earlier, *self.runs) if run.tuned is not None and run.candidate.keep]

    def forget(self) -> None:
        """Remove the files of all its models."""
        self._engine.forget_tuned([run.id for run in (*self.earlier, *self.runs)])

    def steps(self) -> Generator[None, None, None]:
        open_: dict[int, Generator[Event, None, None]] = {}
        held_up: set[int] = set()  # candidates that find no room in memory beside those that are open
        with ExitStack() as stack:
            while True:
                ready = [
                    place
                    for place, run in enumerate(self.runs)
                    if not run.over and place not in held_up and self._is_ready(run)
                ]
                if not ready and held_up:
                    self._held_up = True
                    yield
                    self._held_up = False
                    held_up.clear()
                    continue
                if not ready:
                    return
                place = min(ready, key=lambda place: self.runs[place].seconds)
                run, opening = self.runs[place], place not in open_
                try:
                    if opening:
                        question = yield from self._question(run)
                        open_[place] = self._engine.stream(question)
                        stack.callback(_stop, run, open_[place])
                    event = next(open_[place], None)
                    if event is not None:
                        run.note(event)
                except OutOfMemory as error:
                    open_.pop(place, None)
                    if opening and (open_ or isinstance(error, NoRoomNow)):
                        held_up.add(place)
                    else:
                        run.failed = str(error)
                except ModelZooError as error:
                    run.failed = str(error)
                if run.over and place in open_:
                    open_.pop(place).close()  # its memory is free now, and not when all have ended
                    held_up.clear()
                yield

    def _is_ready(self, run: Run) -> bool:
        """Whether a candidate can be trained now: its teacher has been. One whose teacher failed fails."""
        if run.candidate.teacher is None:
            return True
        teacher = self._teacher(run)
        if teacher.failed is not None:
            run.failed = f"Its teacher could not be trained: {teacher.failed}"
        return teacher.tuned is not None

    def _teacher(self, run: Run) -> Run:
        return next(candidate for candidate in self.runs if candidate.candidate.name == run.candidate.teacher)

    def _question(self, run: Run) -> Generator[None, None, Finetune]:
        """The question that trains a candidate. What its teacher says of the texts is asked before, a few at a time."""
        candidate = run.candidate
        soft: tuple[tuple[float, ...], ...] | None = None
        if candidate.teacher is not None:
            items = candidate.data.first(candidate.settings.examples, candidate.settings.seed).train
            texts = tuple((item.text, item.pair) for item in items)
            teacher, soft = self._teacher(run).id, ()
            for start in range(0, len(texts), _TAUGHT_AT_ONCE):
                soft += self._engine.ask(SoftScores(teacher, texts[start : start + _TAUGHT_AT_ONCE]))
                yield
        return Finetune(candidate.model, candidate.data, candidate.settings, run.id, candidate.keep, soft)


def _stop(run: Run, events: Generator[Event, None, None]) -> None:
    """A training that is stopped keeps what it has learnt, for which there may be no room."""
    try:
        events.close()
    except ModelZooError as error:
        run.failed = str(error)


class Training(Tuning):
    """The one behind the button "Train": a model, or several seeds of it."""


class LessonTraining(Tuning):
    """The one of the lesson on fine-tuning: small enough to be over in seconds."""
