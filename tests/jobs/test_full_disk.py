"""A training stopped with no room for what it has learned, and one that goes on where its state is gone."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import tuning
from safetensors import SafetensorError

from jobs.job import FAILURE
from jobs.tuning import Candidate, Training
from model_zoo import Engine, tuned
from training.finetuning import stopped
from training.finetuning.settings import Settings

SAID = "nothing of it could be kept: what it had learned takes "


@pytest.fixture
def training(engine: Engine, checkpoint: Callable[[str], Path]) -> Iterator[Training]:
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
