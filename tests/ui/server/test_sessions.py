"""Sessions whose connection is lost: whose are kept for them, and whose make way."""

from __future__ import annotations

import asyncio
import time
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from in_a_loop import run
from streamlit import config, runtime
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import SessionInfo

from ui.server import sessions
from ui.server.sessions import Sessions


def lost(name: str, runs: int = 1) -> SessionInfo:
    session: Any = SimpleNamespace(id=name)
    return SessionInfo(client=None, session=session, script_run_count=runs)


@pytest.fixture
def stored() -> Sessions:
    return Sessions(lambda session: session.startswith("at work"))


def test_nobody_pushes_out_who_has_work(stored: Sessions) -> None:
    stored.save(lost("at work", runs=0))
    for number in range(500):
        stored.save(lost(f"reader {number}"))
    assert stored.get("at work") is not None
    assert stored.get("reader 0") is None
    assert stored.get("reader 499") is not None


def test_sockets_that_saw_no_page_push_out_nobody(stored: Sessions) -> None:
    stored.save(lost("reader"))
    for number in range(500):
        stored.save(lost(f"socket {number}", runs=0))
    assert [info.session.id for info in stored.list()] == ["reader"]


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
    assert all(each() is not None for each in held)  # Streamlit, left to itself
    monkeypatch.setattr(sessions, "_BETWEEN_LOOKS", 0.0)

    async def look() -> None:
        looking = asyncio.create_task(stored.look_after())
        while any(each() is not None for each in held):
            await asyncio.sleep(0)
        looking.cancel()

    run(asyncio.wait_for(look(), 10))


def test_streamlit_keeps_its_sessions_where_ours_are_put(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = SimpleNamespace(_session_storage="Streamlit's")
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
    sessions.keep(lambda _session: True)
    assert isinstance(manager._session_storage, Sessions)
    del manager._session_storage
    with pytest.raises(AttributeError):
        sessions.keep(lambda _session: True)
    assert "_session_mgr" in Runtime.__init__.__code__.co_names


def test_a_session_waits_as_long_as_a_visit_is_not_over() -> None:
    from jobs.visits import AWAY

    assert config.get_option("server.disconnectedSessionTTL") < AWAY
