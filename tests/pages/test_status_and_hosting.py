"""The page Status, its button and who may press it; the app where strangers use it: listed models, shorter texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from figures_of_a_process import FIGURES
from on_screen import button
from streamlit.testing.v1 import AppTest

import model_zoo
import web.engine
from model_zoo import DEFAULT_MODEL, Engine
from pages.status import emptying, panel
from web import process, settings

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


def test_the_button_empties_caches(open_page: Open, engine: Engine, checkpoint: Callable[[str], Path]) -> None:
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


def test_a_hosted_app_without_a_code_has_no_button(open_page: Open, set_: Callable[..., None]) -> None:
    set_(hosted="1", status_code="")
    app = open_page("pages/status/page.py")
    assert not app.button
    assert any("INSIDE_BERT_STATUS_CODE" in caption.value for caption in app.caption)
    for typed in ("", "\ud800", "\0", "?"):
        assert emptying.Guard(lambda: 100.0).refusal(typed, CODE) == "Wrong code. Try again in 2 s."


def test_the_bar_is_full_at_most(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "look", lambda: replace(FIGURES, memory=2 * FIGURES.memory_limit))
    app = open_page("pages/status/page.py")
    assert "Memory is full" in app.warning[0].value
    assert app.get("progress")[0].proto.value == 100


@pytest.fixture
def hosted(set_: Callable[..., None]) -> None:
    set_(hosted="1")


def warned(app: AppTest) -> str:
    return " ".join(warning.value for warning in app.warning).replace("\\", "")


@pytest.mark.usefixtures("hosted")
def test_only_listed_models_are_named_and_compared(open_page: Open) -> None:
    for model in ("someone/tiny", "/etc", "~", "x" * 300):
        app = open_page("pages/masked_words/page.py", model=model)
        assert f"“{model[:100]}” is not in the list of models" in warned(app)
        (field,) = [box for box in app.selectbox if box.label == "Model"]
        assert field.value == DEFAULT_MODEL
        assert not field.proto.accept_new_options
        assert app.query_params["model"] == DEFAULT_MODEL
        assert "not in the list" not in warned(app.run())
    app = open_page("pages/compare/page.py", models="embedded/bert,/etc,someone/tiny,embedded/tinybert")
    assert "“/etc” and “someone/tiny” are not in the list of models" in warned(app)
    (field,) = app.multiselect
    assert tuple(field.value) == ("embedded/bert", "embedded/tinybert")
    assert not field.proto.accept_new_options
    assert "folder" not in field.proto.placeholder + field.proto.help
    app = open_page("pages/attention/page.py")
    app.text_area(key="text").set_value("word " * 4_001).run()
    assert "The text has 20,005 characters, more than the 20,000 that are read" in warned(app)
    assert app.text_area(key="text").value == "word " * 4_001


def test_anything_can_be_named_on_a_machine_of_ones_own(open_page: Open) -> None:
    app = open_page("pages/compare/page.py", models="embedded/bert,embedded/tinybert")
    assert app.multiselect[0].proto.accept_new_options


@pytest.mark.usefixtures("hosted")
def test_the_engine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {}

    class Told:
        def __init__(self, **options: Any) -> None:
            arguments.update(options)

        def close(self) -> None:
            pass

    process.clear_all()
    monkeypatch.setattr(model_zoo, "Engine", Told)
    web.engine.engine()
    assert not arguments["any_model"]
    assert arguments["download_bytes"] == 2_000 * 10**6
    process.clear_all()
