"""What the app hears of its components."""

from typing import Any

import pytest
import streamlit as st

from ui.component import component_value, on_component_event


def test_what_a_component_tells_is_heard_and_what_was_lost_on_the_way_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit calls back for a component whose run was ended early, and may have forgotten it by then."""
    states: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", states)
    heard: list[object] = []
    callback = on_component_event("grid", "head", heard.append)
    for state in ({}, {"grid": None}, {"grid": {}}, {"grid": {"head": None}}, {"grid": {"head": [0, 3]}}):
        states.clear()
        states.update(state)
        callback()
    assert heard == [[0, 3]]
    assert component_value("grid", "head") == [0, 3]
    assert component_value("grid", "layer") is None
