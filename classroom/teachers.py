"""Teachers who lead a room from this process: while their browser is connected, the room is told so every second.

Their page does not do it: it may compute for longer, and a browser lets a page that is not seen do little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from classroom.stores import rooms
from model_zoo.errors import ModelZooError
from web.background import connected

_INTERVAL: Final = 1.0  # seconds
_GIVEN_UP: Final = 150.0  # seconds without a connection; a teacher who comes back later draws the page, which adds them


class Teachers:
    """The teachers who lead a room, by session. ``note(code, visitor)`` notes that one is there."""

    def __init__(self, connected: Callable[[str], bool], note: Callable[[str, str], None]) -> None:
        self._connected, self._note = connected, note
        self._lock = threading.Lock()
        self._sessions: dict[str, tuple[str, str, float]] = {}  # code, visitor, when they were connected last
        self._running = False

    def add(self, session: str, code: str, visitor: str) -> None:
        """From now on this visitor leads this room in this session."""
        with self._lock:
            self._sessions[session] = code, visitor, time.monotonic()
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="teachers", daemon=True).start()

    def remove(self, session: str) -> None:
        """Nobody leads in this session any more."""
        with self._lock:
            self._sessions.pop(session, None)

    def note_connected(self) -> bool:
        """Note those who are connected, and give up those who have been away for long; whether any are left."""
        with self._lock:
            sessions = dict(self._sessions)
        now = time.monotonic()
        for session, (code, visitor, last) in sessions.items():
            if self._connected(session):
                with suppress(ModelZooError):  # which the page says
                    self._note(code, visitor)
                last = now
            with self._lock:
                if session in self._sessions:
                    if now - last > _GIVEN_UP:
                        del self._sessions[session]
                    elif self._sessions[session][:2] == (code, visitor):
                        self._sessions[session] = code, visitor, last
        with self._lock:
            self._running = bool(self._sessions)
            return self._running

    def _run(self) -> None:
        while self.note_connected():
            time.sleep(_INTERVAL)


TEACHERS: Final = Teachers(connected, lambda code, visitor: rooms().note_present(code, visitor, teaches=True))
