"""The one worker of the process: the jobs of all visitors take turns on its thread.

A turn is one step of a job. It is that visitor's turn who has had the least time, and each visitor's own jobs share
that visitor's turns: a short job does not wait until a long one ends, and neither five jobs nor long steps slow others
down more than one job of short steps. Two jobs never work at once, because a measurement would time the other job too,
and thirty studies at once would need thirty processors. A job that is ``exclusive`` keeps the turn until it no longer
is; then others have as much time. One that is ``held_up`` stands aside until another has ended.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from jobs.job import Job

_SECONDS_HELD_UP = 0.1


class Worker:
    """Takes jobs from any thread and does them on a thread of its own, as fairly as this file's first lines say.
    ``clock`` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # A turn is a task of the executor: a process that is closed waits for one step and not for whole jobs.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jobs")
        self._lock = Lock()
        # The jobs of each visitor, and the visitors, in the order of their turns; the job at work keeps its place.
        self._lines: OrderedDict[object, deque[Job]] = OrderedDict()
        # Seconds that visitors have had: who comes begins with the least of those who are there, and who has had more
        # than they and comes back still has.
        self._used_seconds: dict[object, float] = {}
        self._exclusive_owner: object | None = None  # whose job is exclusive
        self._parked: list[tuple[object, Job]] = []  # held up, and whose; none while there are no others

    def start(self, job: Job, visitor: object | None = None) -> None:
        """Put a job in line. ``visitor`` is any hashable object that tells whose it is; without one, the job counts as
        a visitor of its own.
        """
        whose = object() if visitor is None else visitor
        with self._lock:
            self._line_up(whose, job)

    @property
    def running(self) -> int:
        """How many jobs have begun and are not over: they take turns."""
        return sum(not job.waiting for job in self._all())

    @property
    def waiting(self) -> int:
        """How many jobs have not had a turn yet."""
        return sum(job.waiting for job in self._all())

    def _all(self) -> list[Job]:
        with self._lock:
            return [*(job for line in self._lines.values() for job in line), *(job for _, job in self._parked)]

    def ahead(self, job: Job) -> int:
        """How many jobs have a turn before this one's next turn, the job at work included; 0 when it is over."""
        with self._lock:
            where = self._find(job)
            if where is None:
                return 0
            visitor, place = where
            n, passed = 0, False
            for other in self._turn_order():
                line = self._lines[other]
                if other is visitor:
                    n, passed = n + place, True
                else:
                    n += min(len(line), place if passed else place + 1)
            return n

    def shared(self, job: Job) -> bool:
        """Whether jobs of other visitors take turns with this one."""
        with self._lock:
            return self._find(job) is not None and len(self._lines) > 1

    def stop(self) -> None:
        """Ask every job to end, as the app is about to; each does at its next step."""
        for job in self._all():
            job.stop()

    def _line_up(self, whose: object, job: Job) -> None:
        """Needs the lock."""
        if whose not in self._lines:
            self._used_seconds[whose] = max(self._used_seconds.get(whose, 0.0), self._least(0.0))
        self._lines.setdefault(whose, deque()).append(job)
        self._thread.submit(self._turn)

    def _find(self, job: Job) -> tuple[object, int] | None:
        """Whose job it is and its place among theirs. Needs the lock."""
        return next(((visitor, line.index(job)) for visitor, line in self._lines.items() if job in line), None)

    def _least(self, of_nobody: float) -> float:
        """The seconds of who has had least of those with jobs. Needs the lock."""
        return min((self._used_seconds[visitor] for visitor in self._lines), default=of_nobody)

    def _turn_order(self) -> list[object]:
        """The visitors, in the order of their turns. Needs the lock."""
        return sorted(
            self._lines, key=lambda visitor: (visitor is not self._exclusive_owner, self._used_seconds[visitor])
        )

    def _next(self) -> tuple[object, Job]:
        """Whose turn it is. A job that is to stop goes first: it has nothing left to do but end. Needs the lock."""
        every = [(visitor, job) for visitor in self._turn_order() for job in self._lines[visitor]]
        return next((entry for entry in every if entry[1].stopping), every[0])

    def _turn(self) -> None:
        """One step of the job whose turn it is; each job that is not over has one call of this in the queue."""
        with self._lock:
            visitor, job = self._next()
        begun = self._clock()
        job.advance()
        running = job.running
        with self._lock:
            self._used_seconds[visitor] += self._clock() - begun
            line, exclusive = self._lines[visitor], running and job.exclusive
            had_turn = line[0] is job  # else it was stopped while it waited
            if had_turn and self._exclusive_owner in (None, visitor):
                self._exclusive_owner = visitor if exclusive else None
            aside = running and job.held_up and sum(map(len, self._lines.values())) > 1
            if aside:
                self._parked.append((visitor, job))
            if aside or not running:
                line.remove(job)
            elif not exclusive:
                line.rotate(-1)
            if not line:
                del self._lines[visitor]
            elif had_turn and not exclusive:
                self._lines.move_to_end(visitor)
            least = self._least(math.inf)
            self._used_seconds = {
                other: had for other, had in self._used_seconds.items() if other in self._lines or had > least
            }
            for parked in [parked for parked in self._parked if not running or parked[1].stopping]:
                self._parked.remove(parked)
                self._line_up(*parked)
        if not running or aside:
            return
        if job.held_up:  # by no other job, but for a moment by somebody's question
            time.sleep(_SECONDS_HELD_UP)
        self._thread.submit(self._turn)


WORKER = Worker()
READER = Worker()
"""For jobs whose work is done ``apart``."""


def worker_of(job: Job) -> Worker:
    """Whose turns a job takes."""
    return READER if job.apart else WORKER
