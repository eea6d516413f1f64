"""The sessions of visitors whose connection is lost, kept for a while until they come back.

Streamlit keeps the last 128, whosever they are: who opens and closes as many sockets would push out all others. And
what it has to tell to someone who came back in the meantime it sends to the connection that was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

from streamlit import config, runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import ActiveSessionInfo, SessionInfo, SessionManager

_MOST_AT_WORK = 1_000
_BETWEEN_LOOKS = 10.0  # seconds


class _Storage(MemorySessionStorage):
    def forget_over(self) -> None:
        self._cache.expire()  # type: ignore[attr-defined]


class Sessions(_Storage):
    """Streamlit's storage, in which sessions that were never shown a page have no place, and those with work in the
    background (``at_work`` tells of a session's id) have places of their own.
    """

    def __init__(self, at_work: Callable[[str], bool]) -> None:
        seconds = config.get_option("server.disconnectedSessionTTL")
        super().__init__(ttl_seconds=seconds)
        self._of_work = _Storage(maxsize=_MOST_AT_WORK, ttl_seconds=seconds)
        self._at_work = at_work

    def get(self, session_id: str) -> SessionInfo | None:
        return self._of_work.get(session_id) or super().get(session_id)

    def save(self, session_info: SessionInfo) -> None:
        if self._at_work(session_info.session.id):
            self._of_work.save(session_info)
        elif session_info.script_run_count:
            super().save(session_info)

    def delete(self, session_id: str) -> None:
        if self._of_work.get(session_id) is not None:
            self._of_work.delete(session_id)
        elif super().get(session_id) is not None:
            super().delete(session_id)

    def forget_over(self) -> None:
        """Let go of sessions whose time is over, which would stay with all they hold until another is stored."""
        super().forget_over()
        self._of_work.forget_over()

    async def look_after(self) -> None:
        """Let go of them again and again."""
        while True:
            await asyncio.sleep(_BETWEEN_LOOKS)
            self.forget_over()

    def list(self) -> list[SessionInfo]:
        return [*self._of_work.list(), *super().list()]


class Connected(list[ActiveSessionInfo]):
    """Those who are connected, each looked up when its turn comes.

    Streamlit goes through them to send what pages have drawn, and waits meanwhile. A visitor who loses the connection
    and comes back in that time has a new one; sent to the old one the page would be lost, and its visitor would wait
    forever.
    """

    def __init__(self, manager: SessionManager) -> None:
        super().__init__(type(manager).list_active_sessions(manager))
        self._manager = manager

    def __iter__(self) -> Iterator[ActiveSessionInfo]:
        for info in super().__iter__():
            now = self._manager.get_active_session_info(info.session.id)
            if now is not None:
                yield now


def keep(at_work: Callable[[str], bool]) -> Sessions:
    """From now on keep lost sessions like this. Raises AttributeError where Streamlit calls their place otherwise."""
    manager = runtime.get_instance()._session_mgr
    manager._session_storage  # type: ignore[attr-defined]  # noqa: B018
    kept = manager._session_storage = Sessions(at_work)  # type: ignore[attr-defined]
    manager.list_active_sessions = partial(Connected, manager)  # type: ignore[method-assign]
    return kept
