"""What a browser says of the widgets, held to what a widget can say: anybody's program may send anything.

Streamlit reads a state where the script asks for its widget and believes it; one that it cannot read would fail every
run of the visit, and one that no widget can have would reach the pages.
"""

from __future__ import annotations

import json
import math
from typing import Any

from streamlit.elements.widgets.selectbox import SelectboxSerde
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata, is_element_id
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, Serialized, WStates

# One widget sends either, by what it is to hold.
_NUMBERS = {"int_value", "double_value"}

_read, _take = WStates.__getitem__, WStates.set_widget_from_proto


def hold() -> None:
    """From now on a state of no widget, or of none of its kind, counts as not sent: the widget keeps its value."""
    WStates.__getitem__ = _held  # type: ignore[method-assign]
    WStates.set_widget_from_proto = _of_widgets  # type: ignore[assignment, method-assign]


def _of_widgets(states: WStates, widget_state: WidgetState) -> None:
    if is_element_id(widget_state.id) or widget_state.id.startswith(STREAMLIT_INTERNAL_KEY_PREFIX):
        _take(states, widget_state)


def _held(states: WStates, name: str) -> Any:
    """The value of a widget. Raises KeyError where there is none, or none that the widget can have: Streamlit goes on
    as without it, and forgets it with the run.
    """
    state, metadata = states.states.get(name), states.widget_metadata.get(name)
    try:
        if isinstance(state, Serialized) and metadata and not _possible(state.value, metadata):
            raise ValueError("no value of this widget")
        return _read(states, name)
    except KeyError:
        raise
    except Exception as error:
        raise KeyError(name) from error


def _possible(sent: WidgetState, widget: WidgetMetadata[Any]) -> bool:
    """Raises ValueError for JSON that holds what is no text."""
    kind, expected = sent.WhichOneof("value"), widget.value_type
    if kind not in (None, expected) and not {kind, expected} <= _NUMBERS:
        return False
    for text in (sent.json_value, sent.json_trigger_value):
        if "\\u" in text:
            json.dumps(json.loads(text), ensure_ascii=False).encode()  # ValueError: half of a surrogate pair
    chosen = getattr(widget.deserializer, "__self__", None)
    if isinstance(chosen, SelectboxSerde) and kind and not any(isinstance(option, str) for option in chosen.options):
        return sent.string_value in chosen.formatted_option_to_option_index  # else Streamlit takes it for one typed
    return all(map(math.isfinite, [sent.double_value, *sent.double_array_value.data]))
