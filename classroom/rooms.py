"""Rooms in which a class follows its teacher: what each displays, who is there, which answers were given.

The rules are here; a ``Store`` only keeps rooms: in memory, in a file, in Redis (``classroom/stores.py``).
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, Protocol

from pydantic import Field as Stored

from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.text import refuse_too_long

ALPHABET: Final = "ACDEFGHJKMNPQRTVWXY23456789"  # no sign that looks like another: no B and 8, S and 5, I and 1 ...
_SIGNS: Final = 5
FORGOTTEN: Final = 24 * 60 * 60
"""Seconds after which a room is forgotten in which nobody has displayed or answered anything."""
PRESENT_FOR: Final = 15.0
"""Seconds that a student counts as present after having looked."""
LED_FOR: Final = 2.6
"""Seconds that a room counts as led after its teacher was there, which is noted every second."""
AWAY: Final = 120.0
"""Seconds for which it is known that somebody was in a room."""
_MOST_ROOMS: Final = 200
_MOST_VISITORS: Final = 500  # who answer one question of a room
_LONGEST_ANSWER: Final = 100  # characters
_TEACHER: Final = "teacher "


class RoomsUnreachable(ModelZooError):
    """Rooms are kept on another server, which does not answer now."""


@dataclass(frozen=True, slots=True)
class Display:
    """What a teacher displays: a page by its name, and ``about``, its fields as an address writes them. ``question`` is
    the name of the question there, "" for none; ``revealed`` says whether its answer is seen, ``votes`` whether it is
    seen how many have given which answer.
    """

    page: str
    about: Mapping[str, str]
    question: str = ""
    revealed: bool = False
    votes: bool = False


@dataclass(frozen=True, slots=True)
class Poll:
    """A question as it was displayed last, and the answers to it, by visitor."""

    display: Annotated[Display, Stored(alias="shown")]
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Room:
    """What is kept of a room: its key, when it was used last (a store's ``now``), its display, and its polls by the
    names of their questions. ``version`` is another number whenever the display changes. Stores write the fields by the
    names that they were first given.
    """

    key: str
    used: float
    version: int = 0
    display: Annotated[Display | None, Stored(alias="shown")] = None
    polls: Annotated[Mapping[str, Poll], Stored(alias="asked")] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What somebody in a room sees of it."""

    version: int
    display: Display | None
    """None before its teacher has displayed anything."""
    led: bool
    """Whether its teacher is there."""
    n_present: int
    """How many students are."""
    counts: Mapping[str, int]
    """How many have given each answer to the question that is displayed."""
    revealed: Collection[str]
    """The questions whose answers are seen."""


class Store(Protocol):
    """Keeps rooms by their codes, and apart from them, since it changes all the time and need not outlast anything, who
    was there when. For any number of threads. Raises RoomsUnreachable if it is elsewhere and does not answer.
    """

    def now(self) -> float:
        """Seconds, by one clock for all who use the store."""

    def read(self, code: str) -> Room | None:
        """A room; None if there is none."""

    def change(self, code: str, change: Callable[[Room | None], Room | None]) -> None:
        """Replace a room by what ``change`` makes of it, with nobody in between; None removes it. It may be called
        several times, and what it raises is raised.
        """

    def last_signs(self) -> Mapping[str, float]:
        """When there was a last sign of each room: it was used, or somebody was there. Those that are over are
        forgotten before.
        """

    def note(self, code: str, who: str, at: float | None) -> None:
        """Note that somebody was in a room at this time; None: has left it."""

    def last_seen(self, code: str) -> Mapping[str, float]:
        """When each was there last, of all who were within ``AWAY``."""


class Rooms:
    """All rooms of a store. What is done with a room that does not exist raises InvalidInput, and so does what only its
    teacher may do, without the right key.

    ``longest`` is the number of characters that anything displayed may have.
    """

    def __init__(self, store: Store, longest: int = 100_000, most: int = _MOST_ROOMS) -> None:
        self._store, self._longest, self._most = store, longest, most

    def open(self) -> tuple[str, str]:
        """A new room's code, which is for everybody, and its key, which is for the teacher alone.

        If there are as many rooms as there may be, the one makes way that everybody has left for longest; InvalidInput
        if all are in use.
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
            kept: list[Room] = []  # what has this code afterwards

            def add(there: Room | None, kept: list[Room] = kept) -> Room:
                kept[:] = [there or room]
                return kept[0]

            self._store.change(code, add)
            if kept == [room]:
                return code, room.key

    def holds(self, code: str, key: str) -> bool:
        """Whether there is this room, and this is its key."""
        room = self._store.read(code)
        return room is not None and not is_over(room, self._store.now()) and _is_key(room, key)

    def show(self, code: str, key: str, display: Display) -> int:
        """Display this in a room; returns its version. A question about something else than before, or whose answer is
        hidden again, is asked anew: former answers to it are forgotten. Raises InvalidInput for what is too long.
        """
        for value in display.about.values():
            refuse_too_long(value, "What the room shows", self._longest)
        display = replace(display, about={name: _writable(value) for name, value in display.about.items()})
        version = 0

        def change(room: Room) -> Room:
            nonlocal version
            version = room.version
            if display == room.display:
                return room
            version += 1
            if not display.question:
                return replace(room, display=display, version=version)
            poll, hidden = room.polls.get(display.question), not display.revealed
            if poll is None or poll.display.about != display.about or (poll.display.revealed and hidden):
                poll = Poll(display)
            polls = {**room.polls, display.question: replace(poll, display=display)}
            return replace(room, display=display, version=version, polls=polls)

        self._change(code, change, key)
        return version

    def end(self, code: str, key: str) -> None:
        """Forget a room."""

        def change(room: Room | None) -> None:
            _refuse_wrong_key(code, _open_room(code, room, self._store.now()), key)

        self._store.change(code, change)

    def note_present(self, code: str, who: str, *, teaches: bool = False) -> None:
        """Somebody is in a room now: one who ``teaches``, or a student."""
        self._store.note(code, _TEACHER * teaches + who, self._store.now())

    def note_left(self, code: str, who: str, *, teaches: bool = False) -> None:
        """Somebody is not there any more."""
        self._store.note(code, _TEACHER * teaches + who, None)

    def forget(self, code: str, visitor: str) -> None:
        """A student is not there any more, and has not answered anything."""

        def change(room: Room) -> Room:
            polls = {
                question: replace(poll, answers={who: text for who, text in poll.answers.items() if who != visitor})
                for question, poll in room.polls.items()
            }
            return room if polls == room.polls else replace(room, polls=polls)

        self.note_left(code, visitor)
        self._change(code, change)

    def see(self, code: str) -> Snapshot:
        """What a room displays, and who is there."""
        now = self._store.now()
        room, there = _open_room(code, self._store.read(code), now), self._store.last_seen(code)
        led = any(abs(now - at) < LED_FOR for who, at in there.items() if who.startswith(_TEACHER))
        poll = room.polls.get(room.display.question) if room.display else None
        counts = Counter(poll.answers.values() if poll else ())
        revealed = [question for question, poll in room.polls.items() if poll.display.revealed]
        return Snapshot(room.version, room.display, led, len(_present(there, now)), counts, revealed)

    def problem(self) -> str:
        """What is wrong with where rooms are kept, in a sentence; "" if it answers."""
        try:
            self._store.now()
        except RoomsUnreachable as error:
            return str(error)
        return ""

    def answer(self, code: str, visitor: str, question: str, answer: str) -> None:
        """Count a visitor's answer to a question, the last one of each. One to a question that was not displayed, or
        whose answer is seen already, does not count. If a room has no place for more, the answers of those who are no
        longer present make way, the earliest first; InvalidInput if all are present.
        """

        def change(room: Room) -> Room:
            poll = room.polls.get(question)
            if poll is None or poll.display.revealed or len(answer) > _LONGEST_ANSWER:
                return room
            answers = dict(poll.answers)
            if visitor not in answers and len(answers) >= _MOST_VISITORS:
                present = _present(self._store.last_seen(code), self._store.now())
                absent = next((who for who in answers if who not in present), None)
                if absent is None:
                    raise InvalidInput(
                        f"{_MOST_VISITORS} people have answered already; the room cannot take more answers."
                    )
                del answers[absent]
            answers[visitor] = _writable(answer)
            return replace(room, polls={**room.polls, question: replace(poll, answers=answers)})

        self._change(code, change)

    def find_answer(self, code: str, visitor: str, question: str) -> str | None:
        """What a visitor has answered to a question; None for nothing."""
        poll = _open_room(code, self._store.read(code), self._store.now()).polls.get(question)
        return poll.answers.get(visitor) if poll else None

    def _change(self, code: str, change: Callable[[Room], Room], key: str | None = None) -> None:
        """Change a room; with a ``key`` its teacher alone may. What changes it, uses it."""

        def use(room: Room | None) -> Room:
            now = self._store.now()
            before = _open_room(code, room, now)
            if key is not None:
                _refuse_wrong_key(code, before, key)
            after = change(before)
            return before if after is before and key is None else replace(after, used=now)

        self._store.change(code, use)


def _open_room(code: str, room: Room | None, now: float) -> Room:
    if room is None or is_over(room, now):
        raise InvalidInput(f"There is no room “{code[:40]}”, or it has ended. Ask your teacher for the code.")
    return room


def is_over(room: Room, now: float) -> bool:
    """Whether it was used too long ago; or as much later, by a clock that has gone back or a time that is none."""
    return not abs(now - room.used) < FORGOTTEN


def _refuse_wrong_key(code: str, room: Room, key: str) -> None:
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
