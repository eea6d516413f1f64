"""What Streamlit has not yet sent when a fragment runs again, of the fragments inside it too."""

from typing import Any
from unittest.mock import MagicMock

import in_a_loop
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from web import fragments

VIEW, BOX, BESIDE = "view", "box in the view", "beside the view"


async def _new_session() -> Any:
    manager = WebsocketSessionManager(MemorySessionStorage(), MagicMock(), ScriptCache(), None)
    name = manager.connect_session(MagicMock(), MagicMock(main_script_path="app.py"), {})
    info: Any = manager.get_active_session_info(name)
    return info.session


@pytest.fixture
def session() -> Any:
    """One of Streamlit's, in which fragments have run, and what of them was not yet sent."""
    session = in_a_loop.run(_new_session())
    session.flush_browser_queue()
    for name, parent in ((VIEW, None), (BOX, VIEW), (BESIDE, None)):
        session._fragment_storage.register(name, lambda: None, parent_fragment_id=parent)
    for place, name in enumerate((VIEW, BOX, BESIDE, "")):  # the last is outside of all fragments
        message = ForwardMsg()
        message.delta.fragment_id = name
        message.delta.add_block.SetInParent()
        message.metadata.delta_path.extend([0, place])
        session._browser_queue.enqueue(message)
    return session


def cleared(session: Any, *running: str) -> list[str]:
    """Whose messages are left when these fragments, or the whole page, run again."""
    getattr(AppSession, fragments.CLEAR_QUEUE)(session, list(running) or None)
    return [message.delta.fragment_id for message in session.flush_browser_queue()]


@pytest.fixture
def mended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppSession, fragments.CLEAR_QUEUE, getattr(AppSession, fragments.CLEAR_QUEUE))
    fragments.drop_what_is_inside()


@pytest.mark.parametrize(
    ("running", "left"), [((VIEW,), [BESIDE, ""]), ((BOX,), [VIEW, BESIDE, ""]), ((BESIDE,), [VIEW, BOX, ""]), ((), [])]
)
@pytest.mark.usefixtures("mended")
def test_what_is_inside_goes_with_what_is_around_it(session: Any, running: tuple[str, ...], left: list[str]) -> None:
    assert cleared(session, *running) == left


def test_streamlit_left_to_itself_keeps_what_is_inside(session: Any) -> None:
    """Where it no longer does, there is nothing to mend."""
    session._browser_queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[VIEW])
    assert [message.delta.fragment_id for message in session.flush_browser_queue()] == [BOX, BESIDE, ""]
