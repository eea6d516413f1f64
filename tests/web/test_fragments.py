"""What Streamlit has not yet sent when a fragment runs again, of the fragments inside it too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

from web import fragments

VIEW, BOX, BESIDE = "view", "box in the view", "beside the view"


@pytest.fixture
def session() -> Any:
    """What is looked at of a session: fragments that have run, and what of them was not yet sent."""
    storage, queue = MemoryFragmentStorage(), ForwardMsgQueue()
    for name, parent in ((VIEW, None), (BOX, VIEW), (BESIDE, None)):
        storage.register(name, lambda: None, parent_fragment_id=parent)
    for place, name in enumerate((VIEW, BOX, BESIDE, "")):  # the last is outside of all fragments
        message = ForwardMsg()
        message.delta.fragment_id = name
        message.delta.add_block.SetInParent()
        message.metadata.delta_path.extend([0, place])
        queue.enqueue(message)
    return SimpleNamespace(_browser_queue=queue, _fragment_storage=storage)


def cleared(session: Any, *running: str) -> list[str]:
    """Whose messages are left when these fragments, or the whole page, run again."""
    getattr(AppSession, fragments.CLEAR_QUEUE)(session, list(running) or None)
    return [message.delta.fragment_id for message in session._browser_queue.flush()]


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
    queue = session._browser_queue
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[VIEW])
    assert [message.delta.fragment_id for message in queue.flush()] == [BOX, BESIDE, ""]


def test_an_unknown_name_ends_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "CLEAR_QUEUE", "_clear_something_else")
    with pytest.raises(AttributeError, match="_clear_something_else"):
        fragments.drop_what_is_inside()
