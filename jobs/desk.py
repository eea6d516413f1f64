"""A visitor's desk: the jobs they started, which end with the visit. Visits end some time after their last sign of
life, so that a connection that is lost for a while costs nobody their work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar, cast

from jobs.job import Job
from jobs.worker import Worker, worker_of

Kind = TypeVar("Kind", bound=Job)

AWAY: Final = 150.0
"""Seconds without a sign of life after which a visit is over: longer than Streamlit waits for a browser to come back to
its session (120).
"""

_BETWEEN_LOOKS: Final = 5.0


class Desk:
    """Holds the last job of each kind, a kind being a class of jobs."""

    def __init__(self, worker: Worker | None = None) -> None:
        self._worker = worker
        self._jobs: dict[type[Job], Job] = {}
        self._visitor = object()  # tells this visitor from others

    def start(self, job: Job) -> None:
        """Put a job in line; an earlier one of its kind is over, as if its visitor had left."""
        earlier = self._jobs.get(type(job))
        if earlier is not None:
            earlier.leave()
        self._jobs[type(job)] = job
        (self._worker or worker_of(job)).start(job, self._visitor)

    def current(self, kind: type[Kind]) -> Kind | None:
        """The last job of a kind, over or not; None before the first."""
        return cast("Kind | None", self._jobs.get(kind))

    def every(self, kind: type[Kind]) -> list[Kind]:
        """The last job of every kind that is a ``kind``, in the order in which those were first started."""
        return [job for job in self._jobs.values() if isinstance(job, kind)]

    @property
    def used(self) -> bool:
        """Whether a job was ever started."""
        return bool(self._jobs)

    def leave(self) -> None:
        """The visit is over: stop everything."""
        for job in self._jobs.values():
            job.leave()


class Visits:
    """The desks of all visitors. ``connected`` tells whether there is a browser at the other end of a session;
    ``clock`` gives seconds.

    A thread of its own looks after them for as long as there are any.
    """

    def __init__(self, connected: Callable[[str], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._connected, self._clock = connected, clock
        self._lock = threading.Lock()
        self._last: dict[Desk, tuple[str, float]] = {}  # each desk's session, and its last sign of life
        self._watched = False

    def seen(self, desk: Desk, session: str) -> None:
        """The visitor of a desk is there, in this session."""
        with self._lock:
            if not self._watched:
                self._watched = True
                threading.Thread(target=self._look_after, name="visits", daemon=True).start()
            self._last[desk] = session, self._clock()

    def at_work(self, session: str) -> bool:
        """Whether there is work of a session's visitor, done or not."""
        with self._lock:
            return any(desk.used for desk, (of, _) in self._last.items() if of == session)

    def look(self) -> bool:
        """End the visits that are over; whether there are others."""
        with self._lock:
            now = self._clock()
            for desk, (session, _) in self._last.items():
                if self._connected(session):
                    self._last[desk] = session, now
            over = [desk for desk, (_, last) in self._last.items() if now - last > AWAY]
            for desk in over:
                del self._last[desk]
            self._watched = bool(self._last)
            watched = self._watched
        for desk in over:
            desk.leave()
        return watched

    def close(self) -> None:
        """End all visits."""
        with self._lock:
            every = list(self._last)
            self._last.clear()
        for desk in every:
            desk.leave()

    def _look_after(self) -> None:
        while self.look():
            time.sleep(_BETWEEN_LOOKS)
