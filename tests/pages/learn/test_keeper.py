"""What a browser kept of the lessons, of which nothing is trusted; what a click in the picture moves."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from on_screen import Open
from streamlit.testing.v1 import AppTest

from pages.learn import keeper, walk
from pages.learn.case import Case
from pages.learn.fields import ANSWERS, LESSON, STEP
from pages.learn.lessons import LESSONS
from pages.learn.walk import FOLLOWED
from ui import address, component
from ui.widgets import LAYER, PAIR, TEXT

OWN = "A sentence of my own."


@pytest.fixture
def give_back(monkeypatch: pytest.MonkeyPatch, open_page: Open) -> Open:
    """Opens the page in a browser that has kept something, which it gives back after the first run."""
    callbacks: list[Callable[[object], None]] = []
    monkeypatch.setattr(keeper.browser, "keep", lambda _now, _taken, give_back: callbacks.append(give_back))

    def start(kept: object, **query: str) -> AppTest:
        app = open_page("pages/learn/page.py", **query)
        monkeypatch.setattr(keeper, "begin", _first(keeper.begin, lambda: callbacks[-1](kept)))
        app.run()
        return app

    return start


def _first(then: Callable[[], None], act: Callable[[], None]) -> Callable[[], None]:
    done = []

    def begin() -> None:
        if not done:
            done.append(True)
            act()
        then()

    return begin


def kept(answers: str = "", lesson: Any = "", step: Any = 1, text: Any = OWN, pair: Any = "") -> dict[str, Any]:
    return {"answers": answers, "lesson": lesson, "step": step, "text": text, "pair": pair}


def test_one_goes_on_where_one_was(give_back: Open) -> None:
    """The address comes first."""
    app = give_back(kept("pieces.1.2,head.3.d00000", "head", 3))
    assert app.session_state[ANSWERS.key] == ("pieces.1.2", "head.3.d00000")
    n_steps = sum(len(lesson.steps) for lesson in LESSONS.values())
    assert f"2 of {n_steps} steps done" in [markdown.value for markdown in app.markdown]
    app = give_back(kept("pieces.1.2,head.1.2", "head", 3), answers="pieces.1.1", lesson="pieces", text="Typed.")
    assert set(app.session_state[ANSWERS.key]) == {"pieces.1.1", "head.1.2"}
    assert app.text_area[0].value == "Typed."


def test_what_is_looked_up_on_the_map_is_no_progress(open_page: Open) -> None:
    app = open_page("pages/learn/page.py", lesson="head", step="3")
    app.button(key="map embeddings").click().run()
    assert (app.session_state[LESSON.key], app.session_state[STEP.key]) == ("embeddings", 1)
    app.button(key="step-out").click().run()
    assert app.button(key="go-on").label == f"Continue: lesson {list(LESSONS).index('head') + 1}, step 3"
    app.button(key="go-on").click().run()
    app.button(key="map embeddings").click().run()
    app.button(key="step-on").click().run()  # who goes on there is there
    app.button(key="step-out").click().run()
    assert app.button(key="go-on").label == f"Continue: lesson {list(LESSONS).index('embeddings') + 1}, step 2"
    app.button(key="go-on").click().run()
    app.button(key="map pieces").click().run()
    app.button(key="show-me").click().run()  # who answers is there, too
    app.button(key="step-out").click().run()
    assert app.button(key="go-on").label == "Continue: lesson 1, step 1"


SAVED = [
    None,
    3,
    "pieces.1.1",
    {},
    kept("pieces", "no such lesson", text="", pair=""),
    kept("nolesson.1.1,pieces.9.1,pieces.1.<b>,,", "pieces", 0, text=""),
    kept(text="The cat sat on the mat because it was tired.", step="<b>", lesson=["pieces"]),
    {"answers": {"pieces": 1}, "lesson": {"a": 1}},
]


def test_what_cannot_be_used_is_ignored(give_back: Open) -> None:
    for saved in SAVED:
        app = give_back(saved)
        assert ANSWERS.name not in app.query_params
        assert not [button for button in app.button if button.key == "go-on"]
    app = give_back(kept("pieces.1.1,nolesson.1.1", "pieces", 99, text="a \ud800b", pair=7))  # half of a character
    assert app.session_state[ANSWERS.key] == ("pieces.1.1",)
    assert (app.session_state[TEXT.key], app.session_state[PAIR.key]) == ("a b", "7")


def test_the_browser_keeps_what_back_takes_away(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("pages/learn/page.py", lesson="pieces", answers="pieces.1.1", text=OWN)
    (message,) = (
        json.loads(element.proto.json)
        for element in app.get("bidi_component")
        if element.proto.component_name == "keeper"
    )
    assert message == kept("pieces.1.1", "pieces", 1) | {"taken": False}
    app = open_page("pages/learn/page.py", lesson="pieces", step="1", answers="pieces.1.2")
    with monkeypatch.context() as patch:
        patch.setattr(address, "_is_history_navigation", lambda: True)
        app.query_params.pop(ANSWERS.name)  # as an older address has it
        app.run()
    assert app.session_state[ANSWERS.key] == ("pieces.1.2",)
    app.button(key="step-out").click().run()
    app.button(key="forget").click().run()
    assert app.session_state[ANSWERS.key] == ()


BIRDS = Case("embedded/bert", "Birds sing.", token=1, layer=1)


def test_a_click_moves_the_picture_alone(app: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    state: dict[str, Any] = {}
    mounted: list[dict[str, Any]] = []
    for module in (walk, component):
        monkeypatch.setattr(module, "st", SimpleNamespace(session_state=state))
    monkeypatch.setattr(walk, "component", lambda *_of: lambda **arguments: mounted.append(arguments))
    monkeypatch.setattr(walk, "pack", lambda payload: payload)

    def draw(case: Case = BIRDS, at: str = "layer") -> tuple[int, int]:
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
