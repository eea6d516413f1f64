"""A job: work in steps, between which it can be stopped and other jobs have their turns. Most ask an engine and count
their work (``StagedJob``).
"""

from __future__ import annotations

import logging
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import closing
from threading import Event, Lock
from typing import ClassVar, TypeVar

from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.types import counted, duration

_log = logging.getLogger(__name__)

Part = TypeVar("Part")

FAILURE = "This ended early because something went wrong inside the app; its log says more. Start it again."


# It is said how long work takes once so many seconds, and such a share of it, are done.
_SECONDS_BEFORE_GUESS, _SHARE_BEFORE_GUESS = 1.0, 0.03


def time_left(seconds: float, share: float) -> str:
    """What follows how far work is, a share of which took so many seconds; nothing where it is too early to say."""
    if seconds < _SECONDS_BEFORE_GUESS or not _SHARE_BEFORE_GUESS <= share < 1:
        return ""
    return f", about {duration(seconds * (1 - share) / share)} left"


class Stopped(Exception):
    """Raised by a job inside a long step, to leave it where it was asked to stop."""


class Job(ABC):
    """Made by a page, handed to a worker by ``Desk.start``, and read by the page while the worker is at it.

    A subclass writes ``steps``; all else it has is for the screen. What it has found so far stays when it is stopped or
    fails; ``failure`` is then a sentence for the screen: that of a ModelZooError, else ``FAILURE``.
    """

    doing: ClassVar[str]
    """What it does, for the log: "measuring"."""
    apart: ClassVar[bool] = False
    """Whether its work is done in a process of its own: it then takes no turns with those whose work is done here."""

    def __init__(self) -> None:
        self.failure: str | None = None
        self._steps: Generator[None, None, None] | None = None
        self._stopping = self._left = False
        self._ending = Lock()
        self._over = Event()

    @abstractmethod
    def steps(self) -> Generator[None, None, None]:
        """Do the work, on the worker's thread; yield wherever it can be stopped and another job can have a turn.

        It is closed at a ``yield`` when it is stopped. Steps should be short, a second at most where possible: others
        wait for each to end.
        """

    @property
    @abstractmethod
    def share(self) -> float:
        """How much is done, in [0, 1]."""

    @property
    @abstractmethod
    def progress(self) -> str:
        """How far it is, in words for the screen."""

    @property
    @abstractmethod
    def n_ended(self) -> int:
        """Grows when there is something new worth drawing the page again for."""

    @property
    def exclusive(self) -> bool:
        """Read after each step: while it is true no other job has a turn, for work that others would disturb."""
        return False

    @property
    def held_up(self) -> bool:
        """Read after each step: while it is true it has no turn until another job has ended, for work that needs what
        others have.
        """
        return False

    def stop(self) -> None:
        """End as soon as the step at work is done; what is finished stays."""
        self._stopping = True

    def leave(self) -> None:
        """Its visitor has left, or begun another of its kind: end, and ``forget``."""
        self.stop()
        with self._ending:
            self._left = True
            over = not self.running
        if over:
            self.forget()

    def forget(self) -> None:  # noqa: B027 (most put nothing elsewhere)
        """Remove what was put elsewhere. Called when it is over and its visitor has left."""

    def wait(self, timeout: float) -> bool:
        """Whether it was over within so many seconds."""
        return self._over.wait(timeout)

    @property
    def waiting(self) -> bool:
        """Whether its first turn is still to come."""
        return self._steps is None and self.running

    @property
    def running(self) -> bool:
        """Whether it is not over yet; true while it waits for its turn."""
        return not self._over.is_set()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop; stays true when it is over."""
        return self._stopping

    @property
    def complete(self) -> bool:
        """Whether it came to its end, neither stopped nor failed."""
        return not self.running and not self.stopping and self.failure is None

    def advance(self) -> None:
        """Take the next step, or end. For the worker: never raises."""
        try:
            if self._stopping:
                raise Stopped
            if self._steps is None:
                self._steps = self.steps()
            next(self._steps)
        except (StopIteration, Stopped):
            self._end()
        except ModelZooError as error:
            self.failure = str(error)
            self._end()
        except Exception as error:
            self._fail(error)
            self._end()

    def _end(self) -> None:
        try:
            if self._steps is not None:
                self._steps.close()
        except Exception as error:
            self._fail(error)
        with self._ending:
            try:
                if self._left:
                    self.forget()
            except Exception as error:
                self._fail(error)
            finally:
                self._over.set()

    def _fail(self, error: Exception) -> None:
        self.failure = FAILURE
        # An exception's own words can hold what was typed.
        frames = "".join(traceback.format_tb(error.__traceback__))
        _log.error("unexpected failure while %s: %s\n%s", self.doing, type(error).__name__, frames)


class StagedJob(Job):
    """A job that asks an engine and whose work can be counted: ``n_done`` of ``n_total``; ``stage`` says for the screen
    what it is at. ``steps`` sets the stage, reads answers by ``_read`` and counts what they are worth.
    """

    unit: ClassVar[str] = ""
    """The noun of one counted step on the screen; "" shows the share done instead."""

    def __init__(self, engine: EngineInterface, n_total: int = 0, stage: str = "Waiting") -> None:
        super().__init__()
        self.stage = stage
        self.n_done, self.n_total = 0, n_total
        self._engine = engine
        self._seconds = 0.0  # of work; waiting for others does not count

    @property
    def share(self) -> float:
        return min(1.0, self.n_done / self.n_total) if self.n_total else 0.0

    @property
    def progress(self) -> str:
        done = f"{self.n_done:,} of {counted(self.n_total, self.unit)}" if self.unit else f"{self.share:.0%} done"
        return f"{self.stage}: {done}{time_left(self._seconds, self.share)}."

    @property
    def n_ended(self) -> int:
        """The page has something new to show at every quarter."""
        return int(4 * self.share)

    def _read(self, parts: Generator[Part, None, None], note: Callable[[Part], object]) -> Generator[None, None, None]:
        """Hand what a stream gives to ``note``, one part per step, and count the seconds that it takes."""
        with closing(parts):
            while True:
                began = time.monotonic()
                part = next(parts, None)
                if part is not None:
                    note(part)
                self._seconds += time.monotonic() - began
                if part is None:
                    return
                yield
