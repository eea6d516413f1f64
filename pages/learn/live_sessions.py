"""Rooms in which a class follows its teacher: what each shows, who is there, what was answered; in memory alone."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from model_zoo.errors import InvalidInput
from model_zoo.text import refuse_too_long

ALPHABET: Final = "ACDEFGHJKMNPQRTVWXY23456789"  # no sign that looks like another: no B and 8, S and 5, I and 1 ...
_SIGNS: Final = 5
FORGOTTEN: Final = 24 * 60 * 60.0
"""Seconds after which a room is forgotten in which nobody has shown or answered anything."""
PRESENT_FOR: Final = 15.0
"""Seconds that somebody counts as present after having looked."""
AWAY: Final = 120.0
"""Seconds without its teacher after which a room in which nobody is present may make way for a new one."""
_MOST_ROOMS: Final = 200
_MOST_VISITORS: Final = 500  # who answer one step of a room
_LONGEST_ANSWER: Final = 100  # characters


@dataclass(frozen=True, slots=True)
class Shown:
    """What a teacher shows: a step (from 1) of a lesson, or "" for none; ``about`` is what it is asked about, fields as
    an address writes them; ``revealed`` says whether the answer is seen.
    """

    lesson: str
    step: int
    about: Mapping[str, str]
    revealed: bool = False


@dataclass(slots=True)
class _Asked:
    """A step as it was shown last, and the answers to it, by visitor."""

    shown: Shown
    answers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Room:
    key: str
    used: float
    taught: float  # when its teacher was there last
    version: int = 0
    shown: Shown | None = None
    asked: dict[tuple[str, int], _Asked] = field(default_factory=dict)
    seen: dict[str, float] = field(default_factory=dict)  # when each visitor looked last


class Rooms:
    """All rooms of a process, for any number of threads. Whatever is asked about a room that does not exist raises
    InvalidInput, as does what only its teacher may do without the right key.

    ``longest`` is the number of characters that anything shown may have, ``clock`` gives seconds.
    """

    def __init__(
        self, longest: int = 100_000, most: int = _MOST_ROOMS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._longest, self._most, self._clock = longest, most, clock
        self._lock = threading.Lock()
        self._rooms: dict[str, _Room] = {}

    def open(self) -> tuple[str, str]:
        """A new room's code, which is for everybody, and its key, which is for the teacher alone.

        Where there are as many rooms as there may be, one that everybody has left makes way, the one that its teacher
        left first; InvalidInput where all are in use.
        """
        with self._lock:
            now = self._clock()
            self._forget(now)
            if len(self._rooms) >= self._most:
                left = [code for code, room in self._rooms.items() if self._is_left(room, now)]
                if not left:
                    raise InvalidInput(f"All {self._most} rooms of this server are in use. Try again later.")
                del self._rooms[min(left, key=lambda code: self._rooms[code].taught)]
            while (code := "".join(secrets.choice(ALPHABET) for _ in range(_SIGNS))) in self._rooms:
                pass
            self._rooms[code] = _Room(secrets.token_urlsafe(16), now, now)
            return code, self._rooms[code].key

    def show(self, code: str, key: str, shown: Shown) -> None:
        """Show this in a room. A step that is asked about something else than before, or whose answer is hidden again,
        is asked anew: former answers to it are forgotten. Raises InvalidInput for what is too long.
        """
        for value in shown.about.values():
            refuse_too_long(value, "What the room shows", self._longest)
        with self._lock:
            room = self._of_teacher(code, key)
            room.used = self._clock()
            if shown == room.shown:
                return
            room.shown = shown
            room.version += 1
            step = shown.lesson, shown.step
            before = room.asked.get(step)
            if before is None or before.shown.about != shown.about or (before.shown.revealed and not shown.revealed):
                room.asked[step] = _Asked(shown)
            else:
                before.shown = shown

    def end(self, code: str, key: str) -> None:
        """Forget a room."""
        with self._lock:
            self._of_teacher(code, key)
            del self._rooms[code]

    def look(self, code: str, visitor: str) -> int:
        """The version of what a room shows, another number whenever that is something else; the visitor is there."""
        with self._lock:
            room = self._room(code)
            now = self._clock()
            if visitor not in room.seen:
                room.seen = self._present(room, now)
            room.seen[visitor] = now
            return room.version

    def state(self, code: str) -> tuple[int, Shown | None]:
        """The version and what a room shows: None before its teacher has shown anything."""
        with self._lock:
            room = self._room(code)
            return room.version, room.shown

    def n_present(self, code: str, key: str) -> int:
        """How many visitors have looked just now; for the teacher, who thereby is there."""
        with self._lock:
            room = self._of_teacher(code, key)
            return len(self._present(room, self._clock()))

    def answer(self, code: str, visitor: str, lesson: str, step: int, answer: str) -> None:
        """Count a visitor's answer to a step, the last one of each. One to a step that was not shown, or whose answer
        is seen already, does not count. Where a room has no place for more, the answers of those who are no longer
        present make way, the earliest first; InvalidInput where all are present.
        """
        with self._lock:
            room = self._room(code)
            asked = room.asked.get((lesson, step))
            if asked is None or asked.shown.revealed or len(answer) > _LONGEST_ANSWER:
                return
            if visitor not in asked.answers and len(asked.answers) >= _MOST_VISITORS:
                present = self._present(room, self._clock())
                gone = next((each for each in asked.answers if each not in present), None)
                if gone is None:
                    said = f"{_MOST_VISITORS} people have answered already; the room cannot take more answers."
                    raise InvalidInput(said)
                del asked.answers[gone]
            asked.answers[visitor] = answer
            room.used = self._clock()

    def given(self, code: str, visitor: str, lesson: str, step: int) -> str | None:
        """What a visitor has answered to a step; None for nothing."""
        with self._lock:
            asked = self._room(code).asked.get((lesson, step))
            return asked.answers.get(visitor) if asked else None

    def counts(self, code: str, lesson: str, step: int) -> Mapping[str, int]:
        """How many have given each answer to a step."""
        with self._lock:
            asked = self._room(code).asked.get((lesson, step))
            return Counter(asked.answers.values() if asked else ())

    # What is below is called with the lock.

    def _room(self, code: str) -> _Room:
        self._forget(self._clock())
        try:
            return self._rooms[code]
        except KeyError:
            said = f"There is no room “{code[:40]}”, or it has ended. Ask your teacher for the code."
            raise InvalidInput(said) from None

    def _of_teacher(self, code: str, key: str) -> _Room:
        room = self._room(code)
        if not hmac.compare_digest(room.key.encode(), key.encode()):
            raise InvalidInput(f"Only the person who started room {code} can change what it shows.")
        room.taught = self._clock()
        return room

    def _forget(self, now: float) -> None:
        old = [code for code, room in self._rooms.items() if now - room.used >= FORGOTTEN]
        for code in old:
            del self._rooms[code]

    def _is_left(self, room: _Room, now: float) -> bool:
        return now - room.taught >= AWAY and not self._present(room, now)

    @staticmethod
    def _present(room: _Room, now: float) -> dict[str, float]:
        return {visitor: at for visitor, at in room.seen.items() if now - at < PRESENT_FOR}
