"""What trainings leave on the disk: the last models of a visit, and nothing of one that is over."""

import pytest
import tuning
from patience import PATIENCE

from jobs import Desk, Job, Worker
from jobs.tuning import MOST_KEPT, Candidate, Training, Tuning
from model_zoo import Engine, tuned
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
