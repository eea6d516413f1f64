"""States that no widget can have: they count as not sent, whoever sends them."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.proto.Common_pb2 import DoubleArray, SInt64Array, StringArray
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates

from web import states

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
