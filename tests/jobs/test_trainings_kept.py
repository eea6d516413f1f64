"""What is kept of trainings, and what happens where a disk is full."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import tuning
from checkpoints import Checkpoint
from patience import PATIENCE
from safetensors import SafetensorError

from jobs import Desk, Job, Worker
from jobs.job import FAILURE
from jobs.tuning import MOST_KEPT, Candidate, Training, Tuning
from model_zoo import Engine, tuned
from training.finetuning import stopped
from training.finetuning.settings import Settings


def candidate(model: str, name: str = "one", teacher: str | None = None, **settings: object) -> Candidate:
    plain: dict[str, object] = {"epochs": 2, "batch": 4, "max_tokens": 32}
    return Candidate(name, model, tuning.data(), Settings(**(plain | settings)), teacher)


class Held(Worker):
    """Gives nobody a turn."""

    def start(self, job: Job, visitor: object | None = None) -> None:
        pass


def run(job: Tuning) -> None:
    """Every step of a job, on this thread."""
    while job.running:
        job.advance()


@pytest.mark.slow
def test_the_last_models_of_a_visit_are_kept(engine: Engine, bert: str) -> None:
    made: list[Training] = []
    for _ in range(MOST_KEPT + 2):
        job = Training(engine, [candidate(bert, epochs=1)])
        if made:
            job.take_over(made[-1])
        run(job)
        made.append(job)
    kept = made[-1].kept
    assert len(kept) == MOST_KEPT + 1
    assert all(tuned.folder(kept_run.id).is_dir() for kept_run in kept)
    made[-1].leave()
    assert not any((tuned._place(kept_run.id)).exists() for kept_run in kept)


def test_who_leaves_in_the_middle_leaves_nothing_behind(engine: Engine, bert: str) -> None:
    desk = Desk(Worker())
    job = Training(engine, [candidate(bert, epochs=50)])
    desk.start(job)
    while not job.runs[0].steps:
        assert not job.wait(0.01)
    desk.leave()
    assert job.wait(PATIENCE)
    (run,) = job.runs
    assert not tuned._place(run.id).exists()
    assert not tuned.state_folder(run.id).exists()


def test_who_leaves_before_the_first_turn_leaves_nothing_behind(engine: Engine, bert: str) -> None:
    """A job that was never begun has what it took over, and forgets it, too."""
    earlier = Training(engine, [candidate(bert, epochs=1)])
    run(earlier)
    (kept,) = earlier.kept
    desk = Desk(Held())
    waiting = Training(engine, [candidate(bert)])
    waiting.take_over(earlier)
    desk.start(waiting)
    assert tuned.folder(kept.id).is_dir()
    desk.leave()
    assert waiting.waiting
    waiting.advance()
    assert not waiting.running
    assert not tuned._place(kept.id).exists()


SAID = "nothing of it could be kept: what it had learned takes "


@pytest.fixture
def training(engine: Engine, checkpoint: Checkpoint) -> Iterator[Training]:
    """One that has taken a step of many."""
    settings = Settings(epochs=50, batch=4, max_tokens=32)
    job = Training(engine, [Candidate("one", str(checkpoint("bert")), tuning.data(), settings)])
    _until(job, 1)
    yield job
    job.forget()


def _until(job: Training, step: int) -> None:
    while not job.runs[0].steps or job.runs[0].steps[-1].step != step:
        job.advance()


def stop(job: Training) -> Training:
    job.stop()
    job.advance()
    assert not job.running
    return job


def test_a_full_disk_is_said_once_and_the_reserve_is_not_taken(training, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=500_000_000))
    (run,) = stop(training).runs
    assert SAID in str(run.failed)
    assert "0.0 MB left for it. Free some space" in str(run.failed)
    assert training.failure is None
    assert not training.can_go_on
    assert not tuned.state_folder(run.id).exists()


def test_a_file_that_cannot_be_written_is_said_alike(training: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_tensors: object, file: Path) -> None:
        file.touch()
        raise SafetensorError("I/O error: No space left on device")

    monkeypatch.setattr(stopped, "save_file", full)
    (run,) = stop(training).runs
    assert SAID in str(run.failed)
    assert "(I/O error: No space left on device)" in str(run.failed)
    assert not training.can_go_on
    assert not tuned.state_folder(run.id).exists()


def test_what_nobody_foresaw_leaves_nothing_to_go_on_with(training: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_arguments: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(stopped, "save", fails)
    assert stop(training).failure == FAILURE
    assert not training.can_go_on


def test_where_what_it_had_learnt_is_gone_it_begins_anew(training: Training) -> None:
    _until(training, 2)
    (run,) = stop(training).runs
    assert training.can_go_on
    shutil.rmtree(tuned.state_folder(run.id))
    again = training.resumed()
    assert isinstance(again, Training)
    again.advance()
    _until(again, 1)
    assert [step.step for step in run.steps] == [1]
    assert [evaluation.step for evaluation in run.evaluated] == [0]
    stop(again).forget()
