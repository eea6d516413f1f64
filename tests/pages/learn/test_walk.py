"""The walk in a lesson: what is clicked in the picture moves the picture, and not the question beside it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pages.learn import walk
from pages.learn.case import Case
from pages.learn.walk import FOLLOWED
from ui import component
from ui.widgets import LAYER

CASE = Case("embedded/bert", "Birds sing.", token=1, layer=1)


def test_a_click_moves_the_picture_alone(app: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    state: dict[str, Any] = {}
    mounted: list[dict[str, Any]] = []
    for module in (walk, component):
        monkeypatch.setattr(module, "st", SimpleNamespace(session_state=state))
    monkeypatch.setattr(walk, "component", lambda *_of: lambda **arguments: mounted.append(arguments))
    monkeypatch.setattr(walk, "pack", lambda payload: payload)

    def draw(case: Case = CASE, at: str = "layer") -> tuple[int, int]:
        walk.draw(case, at)
        return mounted[-1]["data"]["position"], mounted[-1]["data"]["layer"]

    before = FOLLOWED.value, LAYER.value
    assert draw() == (1, 1)
    state[walk._KEY] = {"token": 2, "layer": 4}
    mounted[-1]["on_token_change"]()
    assert draw() == (2, 1)
    mounted[-1]["on_layer_change"]()
    assert draw() == (2, 4)
    assert (FOLLOWED.value, LAYER.value) == before
    assert draw(at="query") == (1, 1)  # another step is about what was chosen beside the picture
    assert draw(Case("embedded/bert", "It rains.", token=1)) == (1, 0)
