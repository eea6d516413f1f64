"""A gate that lets a few through at a time, first come first served, and tells those who wait their place in line.

A thread that has a turn and must wait for something else (at another gate, for a model that is being loaded, for an
answer that somebody else computes) leaves its turn for as long, and has the next one when it comes back: nobody holds a
place and does nothing. ``threading.Semaphore`` would not do: who leaves it takes it again before those who wait.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

ReportPlace = Callable[[int], None]
"""Called now and then while its thread waits, with how many are before it. What it raises ends the waiting."""

report_place: ContextVar[ReportPlace | None] = ContextVar("report_place", default=None)
"""What a waiting thread calls with its place in line; nothing by default."""

_SECONDS_BETWEEN_CALLS = 0.2


class _Turns(threading.local):
    """The turns that a thread has or has left for a while, the outermost first."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []


_here = _Turns()


class Turn:
    """A place in line, and then at work. ``work`` tells others in line what it is for."""

    __slots__ = ("_ended", "cancelled", "held", "line", "long", "work")

    def __init__(self, line: FairQueue, work: Any, *, long: bool) -> None:
        self.line, self.work, self.long = line, work, long
        self.held = False
        self.cancelled = False  # True after its caller has stopped waiting
        self._ended = threading.Event()  # the waiting: because it has its turn, or because it needs none any more

    def dismiss(self) -> None:
        """What it is for was done by who took it out of the line: it needs no turn of its own."""
        self._ended.set()

    def _enter(self, *, first: bool = False) -> bool:
        """Stand in line; whether it had its turn at once."""
        self._ended.clear()
        with self.line._lock:
            if first:
                self.line._waiting.appendleft(self)
            else:
                self.line._waiting.append(self)
            self.line._admit()
            return self.held

    def _wait(self) -> None:
        """Return with the turn, or dismissed."""
        try:
            _watched(self._ended.wait, lambda: self.line.before(self))
        except BaseException:
            with self.line._lock:
                self.cancelled = True
                if self in self.line._waiting:
                    self.line._waiting.remove(self)
            self.leave()
            raise

    def leave(self) -> None:
        """Let the next one go on."""
        with self.line._lock:
            if self.held:
                self.held = False
                self.line._running -= 1
                self.line._n_long -= self.long
            self.line._admit()


class FairQueue:
    """``places`` turns at a time; of those that are long, one fewer, so that they leave room for others."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._lock = threading.Lock()
        self._running = 0
        self._n_long = 0
        self._waiting: deque[Turn] = deque()

    @property
    def running(self) -> int:
        """How many have a turn."""
        return self._running

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._waiting)

    @property
    def held_here(self) -> bool:
        """Whether this thread has a turn."""
        return any(turn.line is self and turn.held for turn in _here.turns)

    def before(self, turn: Turn) -> int:
        """How many stand in line before this one."""
        with self._lock:
            return self._waiting.index(turn) if turn in self._waiting else 0

    def _admit(self) -> None:
        """Give turns to those who are next, as long as there are places. Needs the lock."""
        while self._running < self.places:
            most_long = max(1, self.places - 1)
            turn = next((waiting for waiting in self._waiting if not waiting.long or self._n_long < most_long), None)
            if turn is None:
                return
            self._waiting.remove(turn)
            self._running += 1
            self._n_long += turn.long
            turn.held = True
            turn._ended.set()

    @contextmanager
    def turn(self, work: Any = None, *, long: bool = False) -> Iterator[bool]:
        """Wait for a turn, and have it inside the block. ``long`` work leaves a place to others.

        Gives False where no turn was needed in the end, because another turn did the ``work`` this one is for.
        """
        turn = Turn(self, work, long=long)
        if turn._enter():
            with _holding(turn):
                yield True
            return
        with leaving_turns():
            turn._wait()
            if not turn.held:
                yield False
                return
            with _holding(turn):
                yield True

    def take(self, wanted: Callable[[Any], bool], most: int) -> list[Turn]:
        """Take up to ``most`` turns out of the line whose ``work`` is wanted, in their order: who takes them does what
        they are for, and dismisses them or puts them back.
        """
        with self._lock:
            taken = [turn for turn in self._waiting if turn.work is not None and wanted(turn.work)][:most]
            for turn in taken:
                self._waiting.remove(turn)
        return taken

    def put_back(self, turns: list[Turn]) -> None:
        """Put turns that were taken and not dismissed back where they were: before all others."""
        with self._lock:
            self._waiting.extendleft(turn for turn in reversed(turns) if not turn.cancelled)
            self._admit()


@contextmanager
def _holding(turn: Turn) -> Iterator[None]:
    _here.turns.append(turn)
    try:
        yield
    finally:
        _here.turns.remove(turn)
        turn.leave()


@contextmanager
def leaving_turns() -> Iterator[None]:
    """Leave this thread's turns while it waits for something inside the block, and have the next ones after it."""
    left = [turn for turn in _here.turns if turn.held]
    for turn in reversed(left):
        turn.leave()
    try:
        yield
    except Exception:
        _return_to(left)
        raise
    # After anything else, such as the end of a script that nobody waits for, there is nothing to come back to.
    _return_to(left)


def _return_to(turns: list[Turn], *, first: bool = True) -> None:
    for turn in reversed(turns):  # as they were left: who holds an outer turn never waits for an inner one
        if not turn._enter(first=first):
            turn._wait()


def give_way() -> None:
    """Between two steps of long work: let those go before who wait for a turn that this thread has."""
    mine = [turn for turn in _here.turns if turn.held]
    if not any(turn.line.waiting for turn in mine):
        return
    for turn in reversed(mine):
        turn.leave()
    _return_to(mine, first=False)


def outcome(future: Future[Any]) -> Any:
    """What a future holds once it is done, computed by another thread; this thread's turns are free for others as long.

    Raises what the computing raised.
    """

    def done(seconds: float | None) -> bool:
        try:
            future.exception(seconds)
        except NotYet:
            return False
        return True

    if not future.done():
        with leaving_turns():
            _watched(done, lambda: 0)
    return future.result()


def acquired(lock: threading.Lock) -> None:
    """Acquire a lock that others hold for long; this thread's turns are free for others as long."""
    if not lock.acquire(blocking=False):
        with leaving_turns():
            _watched(lambda seconds: lock.acquire(timeout=-1 if seconds is None else seconds), lambda: 0)


def _watched(wait: Callable[[float | None], bool], before: Callable[[], int]) -> None:
    """Wait until ``wait(seconds)`` says that it is over, and tell who wants to be told how many are ``before``."""
    tell = report_place.get()
    if tell is None:
        wait(None)
        return
    while not wait(_SECONDS_BETWEEN_CALLS):
        tell(before())
