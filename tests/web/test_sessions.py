"""Sessions whose connection is lost: whose are kept for them, and whose make way."""

import asyncio
import inspect
import time
import weakref
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from in_a_loop import run
from patience import PATIENCE
from streamlit import config, runtime
from streamlit.runtime import Runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import ActiveSessionInfo, SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from web import sessions
from web.sessions import Connected, Sessions


def lost(name: str, runs: int = 1) -> SessionInfo:
    session: Any = SimpleNamespace(id=name)
    return SessionInfo(client=None, session=session, script_run_count=runs)


@pytest.fixture
def stored() -> Sessions:
    return Sessions(lambda session: session.startswith("at work"))


def test_nobody_pushes_out_who_has_work_and_sockets_that_saw_no_page_push_out_nobody(stored: Sessions) -> None:
    stored.save(lost("at work", runs=0))
    for number in range(500):
        stored.save(lost(f"reader {number}"))
    assert stored.get("at work") is not None
    assert stored.get("reader 0") is None
    assert stored.get("reader 499") is not None
    before = {info.session.id for info in stored.list()}
    for number in range(500):
        stored.save(lost(f"socket {number}", runs=0))
    assert {info.session.id for info in stored.list()} == before


def test_who_comes_back_is_no_longer_stored(stored: Sessions) -> None:
    for name in ("at work", "reader"):
        stored.save(lost(name))
    assert {info.session.id for info in stored.list()} == {"at work", "reader"}
    for name in ("at work", "reader", "reader", "nobody"):
        stored.delete(name)
    assert stored.list() == []
    assert stored.get("reader") is None


def test_sessions_whose_time_is_over_are_let_go(stored: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only when another one is stored: a class that has left would stay in memory until somebody comes."""
    infos = [lost(name) for name in ("at work", "reader")]
    held = [weakref.ref(info) for info in infos]
    while infos:
        stored.save(infos.pop())
    later = time.monotonic() + 121
    for storage in (stored._cache, stored._of_work._cache):
        monkeypatch.setattr(storage, "_timer", lambda: later)
    assert stored.list() == []
    assert all(session() is not None for session in held)  # Streamlit, left to itself
    monkeypatch.setattr(sessions, "_BETWEEN_LOOKS", 0.0)

    async def look() -> None:
        looking = asyncio.create_task(stored.look_after())
        while any(session() is not None for session in held):
            await asyncio.sleep(0)
        looking.cancel()

    run(asyncio.wait_for(look(), PATIENCE))


def comes_back_while_others_are_told(manager: WebsocketSessionManager) -> list[tuple[str, object]]:
    """Who is told, over which connection, where the second of three comes back while the first is told."""
    notified = []
    for info in manager.list_active_sessions():
        notified.append((info.session.id, info.client))
        if info.session.id == "first":
            manager.disconnect_session("second")
            assert manager.connect_session("new", None, {}, "second") == "second"
            manager.disconnect_session("third")
    return notified


def test_who_came_back_in_the_meantime_is_told_over_the_new_connection() -> None:
    manager = WebsocketSessionManager(Sessions(lambda _session: True), MagicMock(), MagicMock(), None)

    def connected() -> None:
        for name in ("first", "second", "third"):
            session = MagicMock(id=name)
            manager._active_session_info_by_id[name] = ActiveSessionInfo(f"{name}'s", session)

    connected()
    alone = [("first", "first's"), ("second", "second's"), ("third", "third's")]
    assert comes_back_while_others_are_told(manager) == alone  # Streamlit, left to itself
    connected()
    manager.list_active_sessions = partial(Connected, manager)
    assert comes_back_while_others_are_told(manager) == [("first", "first's"), ("second", "new")]
    assert sorted(info.session.id for info in manager.list_sessions()) == ["first", "second", "third"]


def test_streamlit_keeps_its_sessions_where_ours_are_put(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = WebsocketSessionManager(MemorySessionStorage(), MagicMock(), MagicMock(), None)
    monkeypatch.setattr(runtime, "get_instance", lambda: MagicMock(spec=Runtime, _session_mgr=manager))
    sessions.keep(lambda _session: True)
    assert isinstance(manager._session_storage, Sessions)
    assert isinstance(manager.list_active_sessions(), Connected)
    del manager._session_storage
    with pytest.raises(AttributeError):
        sessions.keep(lambda _session: True)
    assert "_session_mgr" in Runtime.__init__.__code__.co_names
    assert "for active_session_info in self._session_mgr.list_active_sessions():" in inspect.getsource(Runtime)


def test_a_session_waits_as_long_as_a_visit_is_not_over() -> None:
    from jobs.desk import AWAY

    assert config.get_option("server.disconnectedSessionTTL") < AWAY
