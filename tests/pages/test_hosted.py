"""The app where strangers use it: listed models only, whatever is typed or stands in a link, and shorter texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import model_zoo
import web.engine
from model_zoo import DEFAULT_MODEL
from web import process
from web.settings import settings

Open = Callable[..., AppTest]


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("INSIDE_BERT_HOSTED", "1")
    settings.cache_clear()
    yield
    settings.cache_clear()


def warned(app: AppTest) -> str:
    return " ".join(warning.value for warning in app.warning).replace("\\", "")


@pytest.mark.usefixtures("hosted")
def test_a_link_can_name_no_model_that_is_not_listed(open_page: Open) -> None:
    for model in ("someone/tiny", "/etc", "~", "x" * 300):
        app = open_page("pages/masked_words/page.py", model=model)
        assert f"“{model[:100]}” is not in the list of models" in warned(app)
        (field,) = [box for box in app.selectbox if box.label == "Model"]
        assert field.value == DEFAULT_MODEL
        assert not field.proto.accept_new_options
        assert app.query_params["model"] == DEFAULT_MODEL
        assert "not in the list" not in warned(app.run())


@pytest.mark.usefixtures("hosted")
def test_only_listed_models_are_compared(open_page: Open) -> None:
    app = open_page("pages/compare/page.py", models="embedded/bert,/etc,someone/tiny,embedded/tinybert")
    assert "“/etc” and “someone/tiny” are not in the list of models" in warned(app)
    (field,) = app.multiselect
    assert tuple(field.value) == ("embedded/bert", "embedded/tinybert")
    assert not field.proto.accept_new_options
    assert "folder" not in field.proto.placeholder + field.proto.help


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


@pytest.mark.usefixtures("hosted")
def test_a_text_is_shorter_here(open_page: Open) -> None:
    app = open_page("pages/attention/page.py")
    app.text_area(key="text").set_value("word " * 4_001).run()
    assert "The text has 20,005 characters, more than the 20,000 that are read" in warned(app)
    assert app.text_area(key="text").value == "word " * 4_001
