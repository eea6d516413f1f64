"""Failures that nobody foresaw: counted, logged without what was typed, and shown with a way on."""

import dataclasses
import logging

import pytest
import streamlit as st
from walks.visitor import OpenVisitor, Visitor
from walks.walk import trouble

from pages.attention import lines
from pages.attention.fields import SHOWN_VIEW
from pages.attention.scene import Scene
from pages.compare import predictions
from ui import address, messages
from ui.widgets import LAYER
from web.process import unforeseen
from web.settings import Settings

SECRET = "My secret sentence."


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layer 3 of the view Lines fails, with what was typed in its own words."""
    draw = lines.draw

    def fails(scene: Scene) -> None:
        if LAYER.value == 3:
            raise ValueError(scene.run.encoding.text)
        draw(scene)

    monkeypatch.setattr(lines, "VIEW", dataclasses.replace(lines.VIEW, draw=fails))


@pytest.mark.usefixtures("broken")
def test_a_failure_is_counted_logged_and_has_a_way_on(visitor, caplog) -> None:
    here = visitor("pages/attention/page.py", text=SECRET)
    before = unforeseen().n
    with caplog.at_level(logging.ERROR):
        here.use(here.widget("view"), "Lines")
        here.use(here.widget("layer"), 4)
        assert trouble(here) is None
        here.use(here.widget("layer"), 3)
    assert trouble(here) is not None
    assert unforeseen().n == before + 1
    (entry,) = [record for record in caplog.records if record.name == "look_inside_bert.ui.messages"]
    assert entry.getMessage() == "ValueError on the page Attention, after: view=lines, layer, layer"
    assert (entry.exception, entry.page) == ("ValueError", "Attention")
    assert entry.steps == ["view=lines", "layer", "layer"]
    assert entry.frames[-1].endswith("in fails")
    assert not [record for record in caplog.records if "secret" in str(vars(record))]
    assert not any(record.exc_info for record in caplog.records)

    here.use(here.widget("start-anew"), None)
    assert trouble(here) is None
    assert here.value("text", None) == SECRET
    assert (here.value(SHOWN_VIEW.key, None), here.value("layer", None)) == (SHOWN_VIEW.default, LAYER.default)


def test_one_button_serves_several_failures(visitor: OpenVisitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError

    here = visitor("pages/compare/page.py", view="predictions")
    monkeypatch.setattr(predictions, "_surprisal", fails)
    monkeypatch.setattr(predictions, "_rank", fails)
    before = unforeseen().n
    here.use(here.widget("guesses"), 3)
    assert unforeseen().n > before + 1
    assert len([element for element in here.elements() if element.type == "error"]) == unforeseen().n - before
    assert len([button for button in here.widgets() if button.key == "start-anew"]) == 1


def test_a_callback_that_fails_is_told_as_a_page_is(visitor, monkeypatch, caplog) -> None:
    """No page is drawn after it, and Streamlit's own words about it offer nothing to do."""

    def fails(_values: object) -> None:
        raise ValueError(SECRET)

    here = visitor("pages/attention/page.py", text=SECRET)
    before = unforeseen().n
    with monkeypatch.context() as broken, caplog.at_level(logging.ERROR, logger="look_inside_bert.ui.messages"):
        broken.setattr(address, "put", fails)
        here.use(here.widget("examples"), "A verb and its subject")
    assert [element.type for element in here.tree.main.children.values()] == ["error", "button"]
    assert "(ValueError, ui/widgets.py, line " in unescaped(here)
    assert unforeseen().n == before + 1
    assert len([record for record in caplog.records if record.name == "look_inside_bert.ui.messages"]) == 1

    here.use(here.widget("start-anew"), None)
    assert trouble(here) is None
    assert here.value("text", None) == SECRET


def test_a_failure_before_any_page_is_told_too(visitor, monkeypatch) -> None:
    def fails(_pages: object) -> None:
        raise ValueError(SECRET)

    here = visitor("pages/attention/page.py")
    with monkeypatch.context() as broken:
        broken.setattr(st, "navigation", fails)
        here.go("pages/attention/page.py", {"layer": "2"})
    assert "Reset this page" in str(trouble(here))
    here.use(here.widget("start-anew"), None)
    assert trouble(here) is None


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("details", [True, False])
def test_details_are_for_those_who_run_the_app_themselves(visitor, monkeypatch, details) -> None:
    monkeypatch.setattr(messages, "settings", lambda: Settings(error_details=details))
    here = visitor("pages/attention/page.py", text=SECRET, view="lines", layer="3")
    text = unescaped(here)
    assert "secret" not in text
    assert ("ValueError" in text) is details


def unescaped(here: Visitor) -> str:
    """The first error on the screen, as it is read."""
    return next(element.value for element in here.elements() if element.type == "error").replace("\\", "")


@pytest.mark.usefixtures("broken")
def test_steps_name_no_value_that_was_made_up(visitor, caplog) -> None:
    """An address can hold any words in the place of a choice."""
    here = visitor("pages/attention/page.py", view="grid")
    here.go("pages/attention/page.py", {"view": "secret words"})
    with caplog.at_level(logging.ERROR, logger="look_inside_bert.ui.messages"):
        here.go("pages/attention/page.py", {"view": "lines", "layer": "3"})
    (entry,) = [record for record in caplog.records if record.name == "look_inside_bert.ui.messages"]
    assert "view" in entry.steps
    assert "view=lines" in entry.steps
    assert "secret" not in str(vars(entry))


def test_what_is_typed_is_parted_where_no_backslash_helps() -> None:
    """How it looks is seen in ``tests/browser/test_plain_text.py``."""
    for text, markdown in (
        ("a_b *c*", r"a\_b \*c\*"),
        ("http://a.b", r"http:color[\:]//a\.b"),
        ("WWW.a.b", r"WWW:color[\.]a\.b"),
        ("me@a.b @me", r"me:color[\@]a\.b \@me"),
        (":material/home:", r":color[\:]material/home\:"),
        ("a -> b -- c - d", r"a :color[\-]\> b :color[\-]\- c \- d"),
        ("a <-> b >= c", r"a \<:color[\-]\> b \>:color[=] c"),
        ("Layer 3: 12", r"Layer 3\: 12"),
        ("“ישב” (5%), “cat”", "“\u2068ישב\u2069” \\(5%\\), “cat”"),
    ):
        assert messages.as_text(text) == markdown
