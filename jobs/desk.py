"""A visitor's desk: the jobs they started, which end with the visit."""

from __future__ import annotations

from typing import TypeVar, cast

from jobs.job import Job
from jobs.worker import Worker, worker_of

Kind = TypeVar("Kind", bound=Job)


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
