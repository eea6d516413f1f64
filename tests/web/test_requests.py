"""Requests of Streamlit's protocol that reach beyond who sends them, and states that no widget can have."""

import inspect
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import in_a_loop
import pytest
from streamlit.proto.Common_pb2 import DoubleArray, SInt64Array, StringArray
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from web import app_session, states


def test_streamlit_still_handles_the_request_where_it_is_refused() -> None:
    """Streamlit may call it something else one day; then this names what has to be looked at."""
    assert f"self.{app_session.CLEAR_CACHE}()" in inspect.getsource(AppSession.handle_backmsg)
    empties = [name for name, method in inspect.getmembers(AppSession) if "cache" in name and "clear" in name]
    assert set(empties) == {app_session.CLEAR_CACHE, "clear_session_caches"}  # the other is the session's own


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("CLEAR_CACHE", app_session.refuse_to_clear_caches),
        ("CLEAR_QUEUE", app_session.drop_inner_fragments),
        ("REGISTER", app_session.leave_sources_alone),
    ],
)
def test_an_unknown_name_of_streamlits_ends_the_start(name: str, mend, monkeypatch) -> None:
    monkeypatch.setattr(app_session, name, "_something_else")
    with pytest.raises(AttributeError, match="_something_else"):
        mend()


NAN = float("nan")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The value of a widget of this kind after a state was sent; None where it counts as not sent."""
    for name in ("__getitem__", "set_widget_from_proto"):
        monkeypatch.setattr(WStates, name, getattr(WStates, name))
    states.hold()

    def value(kind: Any, id: str = "$$ID-abc-key", **state: Any) -> Any:
        held = WStates()
        held.set_widget_from_proto(WidgetState(id=id, **state))
        metadata = WidgetMetadata(
            id=id, deserializer=lambda value: value, serializer=lambda value: value, value_type=kind
        )
        held.set_widget_metadata(metadata)
        try:
            return held[id]
        except KeyError:
            return None

    return value


def test_what_a_widget_can_say_is_taken(sent: Callable[..., Any]) -> None:
    assert sent("double_value", double_value=0.5) == 0.5
    assert sent("double_value", int_value=3) == 3
    assert list(sent("double_array_value", double_array_value=DoubleArray(data=[1, 2]))) == [1, 2]
    assert list(sent("string_array_value", string_array_value=StringArray(data=["a"]))) == ["a"]
    assert sent("json_value", json_value='{"a": 1}') == {"a": 1}
    assert sent("json_value", json_value='["\\ud83d\\ude42 \\\\ud800"]') == ["🙂 \\ud800"]
    assert sent("trigger_value", trigger_value=True) is True
    events = "$$STREAMLIT_INTERNAL_KEY_a component's events"
    assert sent("json_trigger_value", id=events, json_trigger_value="[]") == "[]"


def test_what_it_cannot_say_counts_as_not_sent(sent: Callable[..., Any]) -> None:
    for kind, state in (
        ("double_value", {"double_value": NAN}),
        ("double_value", {"double_value": float("inf")}),
        ("double_array_value", {"double_array_value": DoubleArray(data=[1, NAN])}),
        ("double_array_value", {"string_value": "1"}),
        ("string_value", {"int_value": -1}),
        ("string_array_value", {"int_array_value": SInt64Array(data=[2**40])}),
        ("json_value", {"json_value": "{"}),
        ("json_value", {"json_value": '{"lead": "ABCDE.\\ud800"}'}),
        ("json_value", {"json_value": '{"\\udc00": 1}'}),
        ("json_trigger_value", {"json_trigger_value": '[{"event": "kept", "value": "\\ud83d x"}]'}),
        ("json_value", {"bytes_value": b"\xff"}),
        ("bool_value", {"double_value": 1.0}),
        *(("string_value", {"id": id_, "string_value": "x"}) for id_ in ("", "x", "x" * 5_000)),  # of no widget
    ):
        assert sent(kind, **state) is None, (kind, state)


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
    getattr(AppSession, app_session.CLEAR_QUEUE)(session, list(running) or None)
    return [message.delta.fragment_id for message in session.flush_browser_queue()]


@pytest.fixture
def mended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppSession, app_session.CLEAR_QUEUE, getattr(AppSession, app_session.CLEAR_QUEUE))
    app_session.drop_inner_fragments()


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
