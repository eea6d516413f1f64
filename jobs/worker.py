"""The one worker of the process: the jobs of all visitors take turns on its thread.

A turn is one step of a job. Visitors have turns one after the other, and each visitor's own jobs share that visitor's
turns: a short job does not wait until a long one ends, and a visitor with five jobs slows others down no more than a
visitor with one. Two jobs never work at once, because a measurement would time the other job too, and thirty studies
at once would need thirty processors. A job that is ``exclusive`` keeps the turn until it no longer is.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from jobs.job import Job


class Worker:
    """Takes jobs from any thread and does them on a thread of its own, as fairly as this file's first lines say."""

    def __init__(self) -> None:
        # A turn is a task of the executor: a process that is closed waits for one step and not for whole jobs.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jobs")
        self._lock = Lock()
        # The jobs of each visitor, and the visitors, in the order of their turns; the job at work keeps its place.
        self._lines: OrderedDict[object, deque[Job]] = OrderedDict()

    def start(self, job: Job, visitor: object | None = None) -> None:
        """Put a job in line. ``visitor`` is any hashable object that tells whose it is; without one, the job counts as
        a visitor of its own.
        """
        with self._lock:
            self._lines.setdefault(object() if visitor is None else visitor, deque()).append(job)
        self._thread.submit(self._turn)

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
            return [job for line in self._lines.values() for job in line]

    def ahead(self, job: Job) -> int:
        """How many jobs have a turn before this one's next turn, the job at work included; 0 when it is over."""
        with self._lock:
            found = self._find(job)
            if found is None:
                return 0
            visitor, place = found
            n, passed = 0, False
            for other, line in self._lines.items():
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

    def _find(self, job: Job) -> tuple[object, int] | None:
        """Whose job it is and its place among theirs. Needs the lock."""
        return next(((visitor, line.index(job)) for visitor, line in self._lines.items() if job in line), None)

    def _next(self) -> tuple[object, Job]:
        """Whose turn it is. A job that is to stop goes first: it has nothing left to do but end. Needs the lock."""
        every = [(visitor, job) for visitor, line in self._lines.items() for job in line]
        return next((one for one in every if one[1].stopping), every[0])

    def _turn(self) -> None:
        """One step of the job whose turn it is; each job that is not over has one call of this in the queue."""
        with self._lock:
            visitor, job = self._next()
        job.advance()
        running = job.running
        with self._lock:
            line = self._lines[visitor]
            had_turn = line[0] is job  # else it was stopped while it waited
            if not running:
                line.remove(job)
            elif not job.exclusive:
                line.rotate(-1)
            if not line:
                del self._lines[visitor]
            elif had_turn and not (running and job.exclusive):
                self._lines.move_to_end(visitor)
        if running:
            self._thread.submit(self._turn)


WORKER = Worker()
