"""Teachers who lead a room from this process: as long as their browser is connected, their room is told every second.

Not by what their page does: it may compute for longer, and a browser lets a page that is not seen do little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from model_zoo.errors import ModelZooError
from web.background import connected
from web.room_stores import rooms

_BETWEEN: Final = 1.0  # seconds
_GIVEN_UP: Final = 150.0  # seconds without a connection; who comes back later draws the page, which tells it here


class Leaders:
    """The teachers who lead a room, by session. ``tell(code, visitor)`` says that one is there."""

    def __init__(self, connected: Callable[[str], bool], tell: Callable[[str, str], None]) -> None:
        self._connected, self._tell = connected, tell
        self._lock = threading.Lock()
        self._each: dict[str, tuple[str, str, float]] = {}  # code, visitor, when they were connected last
        self._telling = False

    def lead(self, session: str, code: str, visitor: str) -> None:
        """From now on this visitor leads this room in this session."""
        with self._lock:
            self._each[session] = code, visitor, time.monotonic()
            if not self._telling:
                self._telling = True
                threading.Thread(target=self._go_on, name="teachers", daemon=True).start()

    def stop(self, session: str) -> None:
        """Nobody leads in this session any more."""
        with self._lock:
            self._each.pop(session, None)

    def look(self) -> bool:
        """Tell of those who are connected, and give up those who are gone for long; whether there are any."""
        with self._lock:
            each = dict(self._each)
        now = time.monotonic()
        for session, (code, visitor, last) in each.items():
            if self._connected(session):
                with suppress(ModelZooError):  # which the page says
                    self._tell(code, visitor)
                last = now
            with self._lock:
                if session in self._each:
                    if now - last > _GIVEN_UP:
                        del self._each[session]
                    elif self._each[session][:2] == (code, visitor):
                        self._each[session] = code, visitor, last
        with self._lock:
            self._telling = bool(self._each)
            return self._telling

    def _go_on(self) -> None:
        while self.look():
            time.sleep(_BETWEEN)


LEADERS: Final = Leaders(connected, lambda code, visitor: rooms().here(code, visitor, teaches=True))
