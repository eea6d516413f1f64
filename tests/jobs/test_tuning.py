"""Trainings side by side: turns, memory, a teacher before its student, stopping and going on."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import tuning
from checkpoints import Checkpoint
from torch.nn import functional

from jobs import Worker
from jobs.tuning import Candidate, Run, Tuning
from model_zoo import Engine, tuned
from model_zoo.errors import UnknownModel
from model_zoo.question import Question
from training.finetuning import network
from training.finetuning.loop import divergence
from training.finetuning.predict import SoftScores
from training.finetuning.results import Event, Started, Stepped
from training.finetuning.schedule import batches
from training.finetuning.settings import Settings

SETTINGS = Settings(epochs=2, batch=4, rate=1e-3, max_tokens=32)
DATA = tuning.data()
N_STEPS = 2 * 3  # twelve items in batches of four, twice


def candidate(name: str, model: str, **settings: object) -> Candidate:
    return Candidate(name, model, DATA, replace(SETTINGS, **settings), keep=False)


def advance(job: Tuning, until: Callable[[], bool] = lambda: False) -> Tuning:
    """Take its steps on this thread, to its end or as far as wanted."""
    while job.running and not until():
        job.advance()
    assert job.failure is None
    return job


class Clock:
    """Every step of a model takes as long as it is told to: the order of turns must not hang on a busy machine."""

    def __init__(self, seconds: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
        self.order: list[str] = []
        plain = Run.note

        def note(run: Run, event: Event) -> None:
            if isinstance(event, Stepped):
                self.order.append(run.candidate.name)
                event = replace(event, seconds=event.step * seconds[run.candidate.name])
            plain(run, event)

        monkeypatch.setattr(Run, "note", note)


def test_who_has_worked_least_has_the_next_turn(engine: Engine, bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock({"slow": 3.5, "fast": 1.0}, monkeypatch)
    job = advance(Tuning(engine, [candidate("slow", bert), candidate("fast", bert, seed=1)]))
    assert clock.order == ["slow", *["fast"] * 4, "slow", "fast", "fast", *["slow"] * 4]
    assert job.complete
    assert [len(run.steps) for run in job.tuned] == [N_STEPS, N_STEPS]
    assert (job.share, job.n_ended) == (1, 2 * (3 + 1))  # the start and two epochs are evaluated


def test_beside_others_a_model_becomes_what_it_becomes_alone(engine: Engine, bert: str) -> None:
    alone = tuning.outcome(engine, tuning.question(bert, DATA))
    job = advance(Tuning(engine, [candidate("this", bert), candidate("that", bert, seed=1)]))
    run = job.tuned[0]
    assert [step.loss for step in run.steps] == [step.loss for step in alone.steps]
    assert run.scores == alone.scores


class Reserving:
    """Counts how many trainings have room reserved at once."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.most = 0, 0
        plain = engine.stream

        def stream(question: object) -> Iterator[Event]:
            opened = False
            try:
                for event in plain(question):
                    if not opened:
                        opened, self.now = True, self.now + 1
                        self.most = max(self.most, self.now)
                    yield event
            finally:
                self.now -= opened

        monkeypatch.setattr(engine, "stream", stream)


@pytest.mark.slow
def test_what_finds_no_room_beside_others_waits_for_one_of_them(bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Engine("cpu", model_bytes=60_000_000)  # a training of the tiny model takes 20 MB and a little
    reserving = Reserving(small, monkeypatch)
    job = advance(Tuning(small, [candidate(str(seed), bert, seed=seed) for seed in range(5)]))
    assert [run.failed for run in job.runs] == [None] * 5
    assert len(job.tuned) == 5
    assert reserving.most == 2
    small.close()


@pytest.mark.slow
def test_trainings_of_others_wait_for_each_other_and_leave_room_for_pages(bert: str) -> None:
    small = Engine("cpu", model_bytes=60_000_000)  # of which trainings take three quarters: two of the tiny model
    worker, jobs = Worker(), [Tuning(small, [candidate(str(seed), bert, seed=seed)]) for seed in range(4)]
    held_up = set()
    for job in jobs:
        worker.start(job)
    while any(job.running for job in jobs):
        held_up |= {place for place, job in enumerate(jobs) if job.held_up}
        with small._memory.reserved("what a page needs", 14_000_000):
            pass
    assert [run.failed for job in jobs for run in job.runs] == [None] * 4
    assert [job.complete for job in jobs] == [True] * 4
    assert held_up
    assert all("Waiting for memory" not in job.progress for job in jobs)
    small.close()


def test_what_finds_no_room_by_itself_fails_and_the_others_go_on(bert: str) -> None:
    small = Engine("cpu", model_bytes=30_000_000)
    large = candidate("large", "embedded/tinybert")
    job = advance(Tuning(small, [large, candidate("small", bert)]))
    first, second = job.runs
    assert "MB" in str(first.failed)
    assert second.tuned is not None
    assert job.complete
    small.close()


@pytest.mark.slow
def test_a_student_begins_when_its_teacher_has_ended_and_learns_what_it_says(engine: Engine, bert: str) -> None:
    student = "embedded/tinybert"  # which has no dropout
    candidates = [
        Candidate("teacher", bert, DATA, SETTINGS),
        candidate("alone", student, seed=1),
        replace(candidate("taught", student, seed=1, alpha=0.0, temperature=3.0), teacher="teacher"),
    ]
    job = Tuning(engine, candidates)
    teacher, alone, taught = job.runs
    advance(job, until=lambda: teacher.over)
    assert taught.begun is None
    assert alone.steps
    advance(job)
    assert None not in (teacher.tuned, alone.tuned, taught.tuned)

    # With alpha = 0 the first loss is T² KL alone: of what the teacher says and a student that has learnt nothing.
    soft_scores = np.array(engine.ask(SoftScores(teacher.id, tuple((item.text, None) for item in DATA.train))))
    with engine._memory.lease(student) as loaded:
        before = network.fresh(loaded, DATA, taught.candidate.settings).eval()
        encodings = [loaded.encode(item.text, None, 32) for item in DATA.train]
        first = next(iter(batches([len(encoding) for encoding in encodings], 4, 1, 0)))
        with torch.no_grad():
            logits = before(**loaded.inputs([encodings[place] for place in first])).logits
    p = functional.softmax(torch.tensor(soft_scores[first]).float() / 3, dim=-1)
    q = functional.softmax(logits / 3, dim=-1)
    expected = 9 * float((p * (p / q).log()).sum(dim=-1).mean())
    assert float(divergence(logits, torch.tensor(soft_scores[first]), 3.0)) == pytest.approx(expected, rel=1e-4)
    assert taught.steps[0].loss == pytest.approx(expected, rel=1e-3)
    job.leave()


def test_others_have_turns_while_a_teacher_reads(engine: Engine, bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class's own data may be 100,000 texts, which takes a teacher minutes."""
    monkeypatch.setattr("jobs.tuning._TAUGHT_AT_ONCE", 5)
    reads: list[list[int]] = [[]]  # how many texts a teacher reads, by step of the job
    plain = engine.ask

    def ask(question: Question[Any]) -> Any:
        if isinstance(question, SoftScores):
            reads[-1].append(len(question.texts))
        return plain(question)

    monkeypatch.setattr(engine, "ask", ask)
    job = Tuning(
        engine, [Candidate("teacher", bert, DATA, SETTINGS), replace(candidate("student", bert), teacher="teacher")]
    )
    while job.running:
        job.advance()
        reads.append([])
    assert [read for read in reads if read] == [[5], [5], [2]]
    assert len(job.tuned) == 2
    job.leave()


def test_without_its_teacher_a_student_fails_too(engine: Engine, bert: str, checkpoint: Checkpoint) -> None:
    """And nobody else."""
    candidates = [
        candidate("teacher", str(checkpoint("gpt2"))),
        replace(candidate("student", bert), teacher="teacher"),
        candidate("b", bert),
    ]
    job = advance(Tuning(engine, candidates))
    assert "such as BERT" in str(job.runs[0].failed)
    assert str(job.runs[1].failed).startswith("Its teacher could not be trained: ")
    assert [tuned.base for tuned in job.tuned] == [bert]
    assert job.share == 1


@pytest.mark.slow
def test_what_was_stopped_goes_on_and_ends_alike(engine: Engine, bert: str) -> None:
    candidates = [candidate("a", bert), candidate("b", bert, seed=1)]
    straight = advance(Tuning(engine, candidates))
    job = Tuning(engine, candidates)
    advance(job, until=lambda: any(len(run.steps) >= 2 for run in job.runs))  # they take turns by time
    job.stop()
    advance(job)
    assert job.can_go_on
    assert 0 < job.share < 1
    assert [run.tuned for run in job.runs] == [None, None]
    resumed = advance(job.resumed())
    assert resumed.complete
    assert not resumed.can_go_on
    for result, expected in zip(resumed.tuned, straight.tuned, strict=True):
        assert [step.loss for step in result.steps] == [step.loss for step in expected.steps]
        assert result.scores == expected.scores


@pytest.mark.slow
def test_what_was_computed_but_not_told_before_a_stop_is_told_afterwards(engine: Engine, bert: str) -> None:
    job = Tuning(engine, [candidate("a", bert)])
    advance(job, until=lambda: len(job.runs[0].evaluated) == 2)  # where texts stand then is the event after this one
    assert [vectors.epoch for vectors in job.runs[0].first_vectors] == [0]
    job.stop()
    advance(job)
    resumed = advance(job.resumed())
    (run,) = resumed.runs
    assert run.tuned is not None
    assert (run.steps, run.evaluated) == (list(run.tuned.steps), list(run.tuned.evaluated))
    epochs = [vectors.epoch for vectors in run.first_vectors]
    assert epochs == [vectors.epoch for vectors in run.tuned.first_vectors] == list(range(len(epochs)))


def test_the_time_left_is_told_by_what_was_done_since_it_went_on(engine, bert, monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr("jobs.tuning.time.monotonic", lambda: now[0])
    job = Tuning(engine, [candidate("a", bert)])
    (run,) = job.runs
    run.begun = Started(1, 1, 10)
    run.steps = [Stepped(5, 0.5, 1.0, 1e-3, 5.0)]
    now[0] = 20.0
    assert job.progress == "50% done, about 20 seconds left · step 5 of 10, loss 1.000"
    now[0] = 1000.0
    resumed = job.resumed()
    assert resumed.progress == "50% done · step 5 of 10, loss 1.000"
    run.steps.append(Stepped(6, 0.6, 1.0, 1e-3, 6.0))
    now[0] = 1010.0
    assert resumed.progress == "60% done, about 40 seconds left · step 6 of 10, loss 1.000"


def test_a_model_is_kept_until_its_visitor_leaves(engine: Engine, bert: str) -> None:
    job = advance(Tuning(engine, [Candidate("kept", bert, DATA, SETTINGS), candidate("thrown away", bert, seed=1)]))
    kept, thrown = job.runs
    assert tuned.folder(kept.id).is_dir()
    with pytest.raises(UnknownModel):
        tuned.folder(thrown.id)
    assert job.kept == [kept]
    job.leave()
    with pytest.raises(UnknownModel):
        tuned.folder(kept.id)
