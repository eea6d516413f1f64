"""Reading what a visitor brings: a job, since ten megabytes take a while, and it is read in other people's time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable
from threading import Semaphore, Thread
from typing import Final

from analysis import steps
from jobs.job import Job, Stopped, time_left

_SECONDS: Final = 0.05  # of a step
_SECONDS_BETWEEN_WAYS: Final = 0.001  # in which others are let in, who else have the interpreter every 0.005 s at best


class Reading(Job):
    """``read`` has a thread of its own, which works in this job's turns alone: it stands still from one to the next
    wherever it calls ``analysis.steps.step``. ``key`` tells what is read, and how, from anything else.
    """

    doing = "reading a file"

    def __init__(self, key: Hashable, read: Callable[[], object], n_bytes: int) -> None:
        super().__init__()
        self.key: Hashable = key
        self.n_done = 0  # characters
        self._read, self._n_bytes = read, n_bytes  # and characters, of what is unpacked and decoded
        self._result: object = None
        self._error: BaseException | None = None
        self._seconds = 0.0
        self._turn, self._turn_over = Semaphore(0), Semaphore(0)
        self._closed = self._ended = False
        self._until = self._give_way = 0.0  # when its turn is over, and when others are let in next

    @property
    def share(self) -> float:
        return 1.0 if self._ended else min(0.99, self.n_done / max(self._n_bytes, 1))

    @property
    def progress(self) -> str:
        return f"Reading: {self.n_done:,} characters{time_left(self._seconds, self.share)}."

    @property
    def n_ended(self) -> int:
        return 0

    def steps(self) -> Generator[None, None, None]:
        Thread(target=self._work, name="reading", daemon=True).start()
        try:
            while self._have_turn():
                yield
        finally:
            if not self._ended:  # closed at the yield: the thread leaves where it stands
                self._closed = True
                self._have_turn()
        if self._error is not None:
            raise self._error

    def take(self) -> object:
        """What was read, once it is over: nothing of that stays here. Raises what the reading ended with."""
        if self._error is not None:
            raise self._error
        result, self._result, self.key = self._result, None, None
        return result

    def advance_for(self, seconds: float) -> None:
        """Take steps on the caller's thread until it is over, or so many seconds have passed."""
        until = time.monotonic() + seconds
        while self.running and time.monotonic() < until:
            self.advance()

    def _have_turn(self) -> bool:
        """Let the thread work for a step; whether there is more to do."""
        began = time.monotonic()
        self._turn.release()
        self._turn_over.acquire()
        self._seconds += time.monotonic() - began
        return not self._ended

    def _work(self) -> None:
        self._turn.acquire()
        self._until = time.monotonic() + _SECONDS
        steps.between.set(self._pause)  # of this thread alone
        try:
            self._result = self._read()
        except Stopped:
            pass
        except BaseException as error:
            self._error = error
        del self._read  # and the files with it
        self._ended = True
        self._turn_over.release()

    def _pause(self, n_characters: int, n_more: int) -> None:
        self.n_done += n_characters
        self._n_bytes += n_more
        now = time.monotonic()
        if now >= self._until:
            self._turn_over.release()
            self._turn.acquire()
            if self._closed:
                raise Stopped
            self._until = time.monotonic() + _SECONDS
        elif now >= self._give_way:
            time.sleep(0)
            self._give_way = time.monotonic() + _SECONDS_BETWEEN_WAYS
