"""Rooms in which a class follows its teacher: what each shows, who is there, what was answered.

The rules are here; a ``Store`` only keeps rooms: in memory, in a file, in Redis (``web/room_stores.py``).
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.text import refuse_too_long

ALPHABET: Final = "ACDEFGHJKMNPQRTVWXY23456789"  # no sign that looks like another: no B and 8, S and 5, I and 1 ...
_SIGNS: Final = 5
FORGOTTEN: Final = 24 * 60 * 60
"""Seconds after which a room is forgotten in which nobody has shown or answered anything."""
PRESENT_FOR: Final = 15.0
"""Seconds that a student counts as present after having looked."""
LED_FOR: Final = 2.6
"""Seconds that a room counts as led after its teacher was there, which is told again every second."""
AWAY: Final = 120.0
"""Seconds for which it is known that somebody was in a room."""
_MOST_ROOMS: Final = 200
_MOST_VISITORS: Final = 500  # who answer one question of a room
_LONGEST_ANSWER: Final = 100  # characters
_TEACHER: Final = "teacher "


class RoomsUnreachable(ModelZooError):
    """Rooms are kept on another server, which does not answer now."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a teacher shows: a page by its name, and ``about``, its fields as an address writes them. ``question`` names
    what is asked there, "" for nothing; ``revealed`` says whether its answer is seen, ``votes`` whether it is seen how
    many have given which.
    """

    page: str
    about: Mapping[str, str]
    question: str = ""
    revealed: bool = False
    votes: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was shown last, and the answers to it, by visitor."""

    shown: Shown
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Room:
    """What is kept of a room: its key, when it was used last (a store's ``now``), what it shows, and what it asked.
    ``version`` is another number whenever it shows something else.
    """

    key: str
    used: float
    version: int = 0
    shown: Shown | None = None
    asked: Mapping[str, Asked] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """What somebody in a room sees of it."""

    version: int
    shown: Shown | None
    """None before its teacher has shown anything."""
    led: bool
    """Whether its teacher is there."""
    n_present: int
    """How many students are."""
    counts: Mapping[str, int]
    """How many have given each answer to the question that is shown."""
    revealed: Collection[str]
    """The questions whose answers are seen."""


class Store(Protocol):
    """Keeps rooms by their codes, and apart from them, since it changes all the time and need not outlast anything, who
    was there when. For any number of threads. Raises RoomsUnreachable where it is elsewhere and does not answer.
    """

    def now(self) -> float:
        """Seconds, by one clock for all who use the store."""

    def read(self, code: str) -> Room | None:
        """A room; None where there is none."""

    def change(self, code: str, change: Callable[[Room | None], Room | None]) -> None:
        """Put what ``change`` makes of a room in its place, with nobody in between; None removes it. It may be called
        several times, and what it raises is raised.
        """

    def last_signs(self) -> Mapping[str, float]:
        """When there was a last sign of each room: it was used, or somebody was there. Those that are over are
        forgotten before.
        """

    def note(self, code: str, who: str, at: float | None) -> None:
        """Note that somebody was in a room at this time; None: is not there any more."""

    def last_seen(self, code: str) -> Mapping[str, float]:
        """When each was there last, of all who were within ``AWAY``."""


class Rooms:
    """All rooms of a store. Whatever is asked about a room that does not exist raises InvalidInput, as does what only
    its teacher may do without the right key.

    ``longest`` is the number of characters that anything shown may have.
    """

    def __init__(self, store: Store, longest: int = 100_000, most: int = _MOST_ROOMS) -> None:
        self._store, self._longest, self._most = store, longest, most

    def open(self) -> tuple[str, str]:
        """A new room's code, which is for everybody, and its key, which is for the teacher alone.

        Where there are as many rooms as there may be, the one makes way that everybody has left for longest;
        InvalidInput where all are in use.
        """
        now, signs = self._store.now(), self._store.last_signs()
        if len(signs) >= self._most:
            left = min(signs, key=lambda code: signs[code])
            if now - signs[left] < PRESENT_FOR:
                raise InvalidInput(f"All {self._most} rooms of this server are in use. Try again later.")
            self._store.change(left, lambda _: None)
        room = Room(secrets.token_urlsafe(16), now)
        while True:
            code = "".join(secrets.choice(ALPHABET) for _ in range(_SIGNS))
            found: list[Room] = []  # what is there afterwards

            def add(there: Room | None, found: list[Room] = found) -> Room:
                found[:] = [there or room]
                return found[0]

            self._store.change(code, add)
            if found == [room]:
                return code, room.key

    def holds(self, code: str, key: str) -> bool:
        """Whether there is this room, and this is its key."""
        room = self._store.read(code)
        return room is not None and not is_over(room, self._store.now()) and _is_key(room, key)

    def show(self, code: str, key: str, shown: Shown) -> int:
        """Show this in a room; returns its version. A question that is asked about something else than before, or whose
        answer is hidden again, is asked anew: former answers to it are forgotten. Raises InvalidInput for what is too
        long.
        """
        for value in shown.about.values():
            refuse_too_long(value, "What the room shows", self._longest)
        shown = replace(shown, about={name: _writable(value) for name, value in shown.about.items()})
        found = 0

        def change(room: Room) -> Room:
            nonlocal found
            found = room.version
            if shown == room.shown:
                return room
            found += 1
            before = room.asked.get(shown.question)
            asked = dict(room.asked)
            if before is None or before.shown.about != shown.about or (before.shown.revealed and not shown.revealed):
                asked[shown.question] = Asked(shown)
            else:
                asked[shown.question] = replace(before, shown=shown)
            return replace(room, shown=shown, version=found, asked=asked if shown.question else room.asked)

        self._change(code, change, key)
        return found

    def end(self, code: str, key: str) -> None:
        """Forget a room."""

        def change(room: Room | None) -> None:
            _teachers(code, _found(code, room, self._store.now()), key)

        self._store.change(code, change)

    def here(self, code: str, who: str, *, teaches: bool = False) -> None:
        """Somebody is in a room now: one who ``teaches``, or a student."""
        self._store.note(code, _TEACHER * teaches + who, self._store.now())

    def gone(self, code: str, who: str, *, teaches: bool = False) -> None:
        """Somebody is not there any more."""
        self._store.note(code, _TEACHER * teaches + who, None)

    def forget(self, code: str, visitor: str) -> None:
        """A student is not there any more, and has not answered anything."""

        def change(room: Room) -> Room:
            asked = {
                question: replace(each, answers={who: given for who, given in each.answers.items() if who != visitor})
                for question, each in room.asked.items()
            }
            return room if asked == room.asked else replace(room, asked=asked)

        self.gone(code, visitor)
        self._change(code, change)

    def see(self, code: str) -> Seen:
        """What a room shows, and who is there."""
        now = self._store.now()
        room, there = _found(code, self._store.read(code), now), self._store.last_seen(code)
        led = any(abs(now - at) < LED_FOR for who, at in there.items() if who.startswith(_TEACHER))
        asked = room.asked.get(room.shown.question) if room.shown else None
        counts = Counter(asked.answers.values() if asked else ())
        revealed = [question for question, each in room.asked.items() if each.shown.revealed]
        return Seen(room.version, room.shown, led, len(_present(there, now)), counts, revealed)

    def wrong(self) -> str:
        """What is wrong with where rooms are kept, in a sentence; "" where it answers."""
        try:
            self._store.now()
        except RoomsUnreachable as error:
            return str(error)
        return ""

    def answer(self, code: str, visitor: str, question: str, answer: str) -> None:
        """Count a visitor's answer to a question, the last one of each. One to a question that was not shown, or whose
        answer is seen already, does not count. Where a room has no place for more, the answers of those who are no
        longer present make way, the earliest first; InvalidInput where all are present.
        """

        def change(room: Room) -> Room:
            asked = room.asked.get(question)
            if asked is None or asked.shown.revealed or len(answer) > _LONGEST_ANSWER:
                return room
            answers = dict(asked.answers)
            if visitor not in answers and len(answers) >= _MOST_VISITORS:
                present = _present(self._store.last_seen(code), self._store.now())
                left = next((each for each in answers if each not in present), None)
                if left is None:
                    said = f"{_MOST_VISITORS} people have answered already; the room cannot take more answers."
                    raise InvalidInput(said)
                del answers[left]
            answers[visitor] = _writable(answer)
            return replace(room, asked={**room.asked, question: replace(asked, answers=answers)})

        self._change(code, change)

    def given(self, code: str, visitor: str, question: str) -> str | None:
        """What a visitor has answered to a question; None for nothing."""
        asked = _found(code, self._store.read(code), self._store.now()).asked.get(question)
        return asked.answers.get(visitor) if asked else None

    def _change(self, code: str, change: Callable[[Room], Room], key: str | None = None) -> None:
        """Change a room, its teacher alone where there is a ``key``; what changes it, uses it."""

        def used(room: Room | None) -> Room:
            now = self._store.now()
            found = _found(code, room, now)
            if key is not None:
                _teachers(code, found, key)
            changed = change(found)
            return found if changed is found and key is None else replace(changed, used=now)

        self._store.change(code, used)


def _found(code: str, room: Room | None, now: float) -> Room:
    if room is None or is_over(room, now):
        raise InvalidInput(f"There is no room “{code[:40]}”, or it has ended. Ask your teacher for the code.")
    return room


def is_over(room: Room, now: float) -> bool:
    """Whether it was used too long ago; or as much later, by a clock that has gone back or a time that is none."""
    return not abs(now - room.used) < FORGOTTEN


def _teachers(code: str, room: Room, key: str) -> None:
    if not _is_key(room, key):
        raise InvalidInput(f"Only the person who started room {code} can change what it shows.")


def _is_key(room: Room, key: str) -> bool:
    return hmac.compare_digest(room.key.encode(), key.encode(errors="surrogatepass"))


def _present(there: Mapping[str, float], now: float) -> set[str]:
    """The students who have looked just now."""
    return {who for who, at in there.items() if abs(now - at) < PRESENT_FOR and not who.startswith(_TEACHER)}


def _writable(text: str) -> str:
    """Halves of surrogate pairs, which no store can write, as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
