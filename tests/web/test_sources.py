"""Source files that nobody watches are not looked up when a visitor comes back."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest
from in_a_loop import run
from streamlit import config
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from web import app_session


@pytest.fixture(autouse=True)
def _kept() -> Iterator[None]:
    before, watched = getattr(AppSession, app_session.REGISTER), config.get_option("server.fileWatcherType")
    yield
    setattr(AppSession, app_session.REGISTER, before)
    config.set_option("server.fileWatcherType", watched)


async def _watches(*, resumed: bool) -> bool:
    """Whether a session, new or resumed, watches source files."""
    manager = WebsocketSessionManager(MemorySessionStorage(), MagicMock(), ScriptCache(), None)
    data, client, user = MagicMock(main_script_path="app.py"), MagicMock(), {}
    name = manager.connect_session(client, data, user)
    if resumed:
        manager.disconnect_session(name)
        assert manager.connect_session(client, data, user, name) == name
    session: Any = manager.get_active_session_info(name)
    return session.session._local_sources_watcher is not None


def test_files_are_watched_only_where_that_is_wanted() -> None:
    """Streamlit, left to itself, watches in a session that is resumed: where it heeds the setting, ours can go."""
    config.set_option("server.fileWatcherType", "none")
    assert [run(_watches(resumed=resumed)) for resumed in (False, True)] == [False, True]
    before = getattr(AppSession, app_session.REGISTER)
    for watched in ("none", "poll"):
        config.set_option("server.fileWatcherType", watched)
        setattr(AppSession, app_session.REGISTER, before)
        app_session.leave_sources_alone()
        assert {run(_watches(resumed=resumed)) for resumed in (False, True)} == {watched == "poll"}
