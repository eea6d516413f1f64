"""Jobs on the worker: turns, stops, failures, and desks, by jobs made for it whose steps wait for a permission."""

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from patience import PATIENCE

from jobs import WORKER, Desk, Job, Stopped, Worker

SECRET = "My secret sentence."
ROOT = Path(__file__).parents[2]


class Steps(Job):
    """So many steps, each noted as it is done; ``alone`` are those that are exclusive."""

    doing = "counting"

    def __init__(self, name: str, notes: list[str], n: int = 3, alone: range = range(0)) -> None:
        super().__init__()
        self.name, self.notes, self.n, self.alone = name, notes, n, alone
        self.done = 0
        self.closed = False

    def steps(self) -> Generator[None, None, None]:
        try:
            while self.done < self.n:
                self.step()
                self.done += 1
                yield
        finally:
            self.closed = True

    def step(self) -> None:
        self.notes.append(f"{self.name}{self.done}")

    @property
    def exclusive(self) -> bool:
        return self.done in self.alone

    @property
    def share(self) -> float:
        return self.done / self.n

    @property
    def progress(self) -> str:
        return f"{self.done} of {self.n}"

    @property
    def n_ended(self) -> int:
        return self.done


class Gated(Steps):
    """Each step waits for a permission, so that a test knows which one the worker is at."""

    def __init__(self, name: str, notes: list[str], n: int = 1) -> None:
        super().__init__(name, notes, n)
        self.at_step, self.go_on = threading.Semaphore(0), threading.Semaphore(0)

    def step(self) -> None:
        self.at_step.release()
        assert self.go_on.acquire(timeout=PATIENCE)
        super().step()

    def reached(self) -> bool:
        return self.at_step.acquire(timeout=PATIENCE)


class Broken(Steps):
    """Fails in its second step, with what was typed in the failure's words."""

    def step(self) -> None:
        super().step()
        if self.done == 1:
            raise ValueError(SECRET)


@pytest.fixture
def notes() -> list[str]:
    return []


class Line:
    """A worker held by a first job until ``run`` has put others in line; what is known of them meanwhile."""

    def __init__(self, notes: list[str]) -> None:
        self.seconds = 0.0  # of a clock that stands still, but for the steps that let it go on
        self.notes, self.worker, self.first = notes, Worker(lambda: self.seconds), Gated("first", notes)
        self.worker.start(self.first)
        assert self.first.reached()

    def run(self, *jobs: tuple[str, Steps]) -> list[str]:
        """Jobs with their visitors: start all, wait for all; returns what was noted."""
        for visitor, job in jobs:
            self.worker.start(job, visitor)
        self.ahead = [self.worker.ahead(job) for _, job in jobs]
        self.shared = [self.worker.shared(job) for _, job in jobs]
        self.counted = self.worker.running, self.worker.waiting
        self.first.go_on.release()
        assert self.first.wait(PATIENCE)
        assert all(job.wait(PATIENCE) for _, job in jobs)
        return self.notes[1:]


def test_a_worker_that_is_stopped_ends_every_job_at_its_step(notes: list[str]) -> None:
    worker, at_work = Worker(), Gated("at work", notes, n=9)
    waiting = [Steps("waiting", notes), Steps("another", notes)]
    worker.start(at_work)
    assert at_work.reached()
    for job in waiting:
        worker.start(job)
    worker.stop()
    at_work.go_on.release()
    assert all(job.wait(PATIENCE) for job in (at_work, *waiting))
    assert notes == ["at work0"]
    assert at_work.closed


@pytest.fixture
def queued(notes: list[str]) -> Generator[Line]:
    line = Line(notes)
    yield line
    line.first.go_on.release()


def test_jobs_take_turns_a_step_each(queued: Line, notes: list[str]) -> None:
    long, short = Steps("long", notes, 4), Steps("short", notes, 1)
    assert queued.run(("a", long), ("b", short)) == ["long0", "short0", "long1", "long2", "long3"]
    assert long.complete
    assert long.closed


def test_a_visitor_with_five_jobs_takes_no_more_turns_than_one(queued: Line, notes: list[str]) -> None:
    five = [("many", Steps(name, notes, 2)) for name in "abcde"]
    single = Steps("z", notes, 3)
    assert queued.run(*five, ("one", single))[:7] == ["a0", "z0", "b0", "z1", "c0", "z2", "d0"]


class Slow(Steps):
    """Each step takes ten seconds of the line's clock; those of ``Quick`` take one."""

    takes = 10.0

    def __init__(self, name: str, line: Line, n: int, alone: range = range(0)) -> None:
        super().__init__(name, line.notes, n, alone)
        self.line = line

    def step(self) -> None:
        super().step()
        self.line.seconds += self.takes


class Quick(Slow):
    takes = 1.0


def test_a_visitor_whose_steps_are_long_has_no_more_time_than_others(queued: Line) -> None:
    noted = queued.run(("a", Slow("slow", queued, 3)), ("b", Quick("quick", queued, 25)))
    assert noted[:2] == ["slow0", "quick0"]
    assert noted.index("slow1") == 11  # ten of the quick one's steps have come
    assert noted.index("slow2") == 22


def test_who_measures_alone_again_and_again_leaves_others_as_much_time(queued: Line) -> None:
    """A measurement keeps the turn while it times; and who begins another at once comes after who waited for it."""
    line, first = queued, Slow("first one", queued, 2, alone=range(1, 2))

    class Again(Quick):
        """Its visitor begins another measurement as soon as the one before has ended."""

        def step(self) -> None:
            super().step()
            if self.done == 0:
                line.worker.start(second, "a")

    second = Slow("second one", queued, 1)
    quick = Again("quick", queued, 30)
    noted = queued.run(("a", first), ("b", quick))
    assert noted[:3] == ["first one0", "first one1", "quick0"]
    assert second.wait(PATIENCE)
    assert noted.index("second one0") == 2 + 20 + 1  # twenty seconds for each, then who stood there first


def test_who_comes_later_does_not_get_all_the_time_that_others_have_had(queued: Line) -> None:
    line = queued

    class Late(Quick):
        def step(self) -> None:
            super().step()
            if self.done == 9:
                line.worker.start(newcomer, "c")

    newcomer = Quick("new", queued, 3)
    noted = queued.run(("a", Late("a", queued, 14)), ("b", Quick("b", queued, 14)))
    assert newcomer.wait(PATIENCE)
    assert [entry for entry in noted if entry.startswith("new")] == ["new0", "new1", "new2"]
    between = noted[noted.index("new0") : noted.index("new2")]
    assert {"a", "b"} <= {entry[0] for entry in between}


class HeldUp(Steps):
    """Can do nothing before another job has ended."""

    def __init__(self, name: str, notes: list[str], others: Callable[[], bool]) -> None:
        super().__init__(name, notes, 1)
        self.others = others

    def steps(self) -> Generator[None, None, None]:
        while self.held_up:
            self.notes.append(f"{self.name} waits")
            yield
        yield from super().steps()

    @property
    def held_up(self) -> bool:
        return self.others()


def test_who_is_held_up_stands_aside_until_another_has_ended(queued: Line, notes: list[str]) -> None:
    long, short = Steps("long", notes, 8), Steps("short", notes, 4)
    held_up = HeldUp("held up", notes, lambda: long.running)
    noted = queued.run(("a", held_up), ("b", long), ("c", short))
    assert noted.count("held up waits") == 3  # at first, and when the first job and the short one had ended
    assert noted.index("held up waits") == 0
    assert noted[-1] == "held up0"
    assert held_up.complete


def test_who_is_held_up_can_be_stopped(queued: Line, notes: list[str]) -> None:
    class Stops(Steps):
        def step(self) -> None:
            super().step()
            if self.done == 2:
                held_up.stop()

    held_up = HeldUp("held up", notes, lambda: True)
    other = Stops("other", notes, 5)
    noted = queued.run(("a", held_up), ("b", other))
    assert held_up.wait(PATIENCE)
    assert "held up waits" not in noted[noted.index("other2") :]
    assert not held_up.complete


def test_who_is_held_up_and_alone_tries_again(notes: list[str]) -> None:
    worker, tries = Worker(), iter([True] * 6 + [False] * 100)
    job = HeldUp("alone", notes, lambda: next(tries))
    worker.start(job)
    assert job.wait(PATIENCE)
    assert notes[-1] == "alone0"


def test_the_place_in_line_counts_who_has_a_turn_before(queued: Line, notes: list[str]) -> None:
    """The first job, which is at work, counts; of a visitor's five jobs only those that come before do."""
    five = [("many", Steps(name, notes, 1)) for name in "abcde"]
    done = queued.run(*five, ("one", Steps("y", notes, 1)), ("one", Steps("z", notes, 1)))
    assert queued.ahead == [1, 3, 5, 6, 7, 2, 4]
    assert queued.counted == (1, 7)
    assert (queued.worker.running, queued.worker.waiting) == (0, 0)
    assert done == ["a0", "y0", "b0", "z0", "c0", "d0", "e0"]
    assert all(queued.shared)


def test_a_visitor_alone_shares_with_nobody(notes: list[str]) -> None:
    worker, visitor = Worker(), object()
    first, second = Gated("first", notes), Steps("second", notes)
    assert worker.ahead(first) == 0
    worker.start(first, visitor)
    worker.start(second, visitor)
    assert first.reached()
    assert (worker.ahead(first), worker.ahead(second)) == (0, 1)
    assert not worker.shared(second)
    assert (first.waiting, second.waiting) == (False, True)
    first.go_on.release()
    assert second.wait(PATIENCE)
    assert not second.waiting


def test_nobody_has_a_turn_while_a_job_is_exclusive(queued: Line, notes: list[str]) -> None:
    """It is so after its first step, until its third one is done."""
    alone = Steps("alone", notes, 5, alone=range(1, 3))
    others = [("a", Steps("a", notes, 2)), ("b", Steps("b", notes, 2)), ("mine", Steps("mine", notes, 2))]
    assert queued.run(("mine", alone), *others) == [
        *("alone0", "alone1", "alone2"),
        *("a0", "b0", "mine0"),
        *("a1", "b1"),
        *("alone3", "mine1", "alone4"),
    ]


def test_two_exclusive_jobs_come_one_after_the_other(queued: Line, notes: list[str]) -> None:
    pair = [(name, Steps(name, notes, 3, alone=range(1, 3))) for name in "ab"]
    assert queued.run(*pair) == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_stop_between_steps_closes_the_job_and_keeps_what_is_done(notes: list[str]) -> None:
    worker, job = Worker(), Gated("a", notes, 3)
    worker.start(job)
    assert job.reached()
    job.stop()
    assert job.stopping
    assert job.running  # until the step is done
    job.go_on.release()
    assert job.wait(PATIENCE)
    assert notes == ["a0"]
    assert (job.closed, job.complete, job.failure) == (True, False, None)


def test_a_job_can_leave_a_long_step(notes: list[str]) -> None:
    class Long(Gated):
        def step(self) -> None:
            super().step()
            if self.stopping:
                raise Stopped

    worker, job = Worker(), Long("a", notes, 3)
    worker.start(job)
    assert job.reached()
    job.stop()
    job.go_on.release()
    assert job.wait(PATIENCE)
    assert (job.done, job.closed, job.failure) == (0, True, None)


def test_a_job_stopped_while_it_waits_does_nothing_and_ends_first(queued: Line, notes: list[str]) -> None:
    """Even before the next step of one that is exclusive."""
    ended: list[bool] = []
    last = Steps("last", notes)

    class Looking(Steps):
        def step(self) -> None:
            super().step()
            ended.append(last.running)
            last.stop()

    assert queued.run(("a", Looking("a", notes, 3, alone=range(1, 3))), ("b", last)) == ["a0", "a1", "a2"]
    assert ended == [True, False, False]
    assert not last.closed  # it was never begun
    assert last.done == 0


def test_a_failure_is_a_sentence_and_the_worker_goes_on(queued, notes, caplog) -> None:
    broken, sound = Broken("x", notes), Steps("y", notes)
    with caplog.at_level(logging.ERROR):
        queued.run(("a", broken), ("b", sound))
    assert "something went wrong inside the app" in str(broken.failure)
    assert (broken.closed, broken.complete, sound.complete) == (True, False, True)
    assert "unexpected failure while counting: ValueError" in caplog.text
    assert "in step" in caplog.text
    assert SECRET not in caplog.text


def test_a_failure_while_a_job_is_closed_is_one_too(notes: list[str]) -> None:
    class Leaking(Gated):
        def steps(self) -> Generator[None, None, None]:
            try:
                yield from super().steps()
            finally:
                raise OSError("no room is left on the disk")

    worker, job, sound = Worker(), Leaking("a", notes, 3), Steps("b", notes)
    worker.start(job)
    assert job.reached()
    job.stop()
    job.go_on.release()
    assert job.wait(PATIENCE)
    assert job.failure is not None
    worker.start(sound)
    assert sound.wait(PATIENCE)
    assert sound.complete


def test_a_visitor_who_leaves_stops_his_jobs(notes: list[str]) -> None:
    worker = Worker()
    mine, other = Desk(worker), Desk(worker)

    class Another(Gated):
        """A second kind."""

    first, second, kept = Gated("a", notes, 2), Another("b", notes, 2), Gated("c", notes, 2)
    for desk, job in ((mine, first), (mine, second), (other, kept)):
        desk.start(job)
    assert first.reached()
    assert mine.current(Gated) is first
    assert mine.current(Another) is second
    assert other.current(Another) is None
    mine.leave()
    other_running = other.current(Gated)
    assert (first.stopping, second.stopping, kept.stopping) == (True, True, False)
    first.go_on.release()
    kept.go_on.release(2)
    assert all(job.wait(PATIENCE) for job in (first, second, kept))
    assert notes == ["a0", "c0", "c1"]
    assert other_running is kept
    assert kept.complete


def test_a_job_takes_the_place_of_the_one_of_its_kind(notes: list[str]) -> None:
    desk = Desk(Worker())
    first, second = Gated("a", notes, 2), Gated("b", notes, 1)
    desk.start(first)
    assert first.reached()
    desk.start(second)
    assert first.stopping
    assert desk.current(Gated) is second
    first.go_on.release()
    second.go_on.release()
    assert first.wait(PATIENCE)
    assert second.wait(PATIENCE)
    assert notes == ["a0", "b0"]


def test_all_desks_have_the_worker_of_their_jobs(notes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whose: list[object] = []
    monkeypatch.setattr(WORKER, "start", lambda _job, visitor: whose.append(visitor))
    Desk().start(Steps("a", notes))
    Desk().start(Steps("b", notes))
    assert len(set(whose)) == 2


def test_a_process_can_end_while_jobs_run() -> None:
    """It waits for the step at work and not for the jobs, one of which would never end."""
    program = """if True:
        from jobs import WORKER, Job
        class Endless(Job):
            doing, share, progress, n_ended = "counting", 0.0, "", 0
            def steps(self):
                while True:
                    yield
        WORKER.start(Endless())
    """
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, timeout=PATIENCE)
