"""The page Status: what can be read on it, what its button does, and who may press it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from figures_of_a_process import FIGURES
from on_screen import button
from streamlit.testing.v1 import AppTest

from model_zoo import Engine
from pages.status import emptying, panel
from web import settings

Open = Callable[..., AppTest]

CODE = "sesame 12"


@pytest.fixture
def set_(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """``set_(hosted="1")`` sets settings of the app by their names, as the environment does."""

    def give(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(settings.PREFIX + name.upper(), value)
        settings.settings.cache_clear()

    yield give
    monkeypatch.undo()
    settings.settings.cache_clear()


def texts(app: AppTest) -> str:
    """Everything that can be read on the page."""
    read = [*app.markdown, *app.caption, *app.success, *app.info, *app.warning, *app.error]
    return "\n".join(
        [*(element.value for element in read), *(f"{metric.label} {metric.value}" for metric in app.metric)]
    )


def test_the_button_empties_the_caches_and_says_what_it_freed(
    open_page: Open, engine: Engine, checkpoint: Callable[[str], Path]
) -> None:
    folder = str(checkpoint("bert"))
    app = open_page("pages/status/page.py")  # by way of the home page, which asks questions of its own
    engine.close()
    engine.attend(folder, "A secret sentence.")
    app.run()
    assert [metric.label for metric in app.metric] == ["Visitors", "Visitors waiting", "Processors in use", "Errors"]
    before = texts(app)
    assert "All is well" in app.success[0].value
    assert "1 model in memory" in before
    assert "| another model | CPU, float32 |" in before
    assert folder not in before
    assert "secret" not in before
    button(app, "Empty the caches").click().run()
    assert re.fullmatch(r"Freed [\d.]+ MB: 1 model and 1 answer\.", app.success[-1].value)
    assert engine.held() == []
    button(app, "Empty the caches").click().run()
    assert app.success[-1].value == "There was nothing to empty."


def test_a_code_is_asked_for_where_one_is_set(
    open_page: Open,
    engine: Engine,
    checkpoint: Callable[[str], Path],
    set_: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    guard = emptying.Guard(lambda: now)
    monkeypatch.setattr(emptying, "guard", lambda: guard)
    set_(hosted="1", status_code=CODE)
    engine.info(str(checkpoint("bert")))
    app = open_page("pages/status/page.py")
    app.text_input[0].input("open it")
    button(app, "Empty the caches").click().run()
    assert [warning.value for warning in app.warning] == ["Wrong code. Try again in 2 s."]
    assert engine.held()
    assert not app.query_params
    now += 3
    app.text_input[0].input(CODE)
    button(app, "Empty the caches").click().run()
    assert not app.warning
    assert app.success[-1].value.startswith("Freed ")
    assert engine.held() == []


def test_any_text_is_a_wrong_code() -> None:
    for typed in ("", "\ud800", "\0", "?"):
        assert emptying.Guard(lambda: 100.0).refusal(typed, CODE) == "Wrong code. Try again in 2 s."


def test_a_hosted_app_without_a_code_has_no_button(open_page: Open, set_: Callable[..., None]) -> None:
    set_(hosted="1", status_code="")
    app = open_page("pages/status/page.py")
    assert not app.button
    assert any("INSIDE_BERT_STATUS_CODE" in caption.value for caption in app.caption)


def test_the_bar_is_full_at_most(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "look", lambda: replace(FIGURES, memory=2 * FIGURES.memory_limit))
    app = open_page("pages/status/page.py")
    assert "Memory is full" in app.warning[0].value
    assert app.get("progress")[0].proto.value == 100
