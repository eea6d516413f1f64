"""Pages are drawn in turn; who waits is told, and a fragment that is drawn with its page waits for nobody."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from model_zoo.fair_queue import FairQueue
from web import turns


def page() -> None:
    import streamlit as st

    from ui.messages import fragment
    from web.turns import PAGES, turn

    def inner() -> None:
        st.write(f"{PAGES.running} at work")

    with turn():
        fragment(inner)()


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Somebody else has the only turn, until this is set."""
    monkeypatch.setattr(turns, "PAGES", FairQueue(1))
    monkeypatch.setattr(turns, "_SECONDS_UNTOLD", -1.0)
    begun, go = threading.Event(), threading.Event()

    def other() -> None:
        with turns.PAGES.turn():
            begun.set()
            assert go.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(other)
        assert begun.wait(PATIENCE)
        yield go
        go.set()
        held.result(PATIENCE)


def test_who_waits_is_told_and_then_drawn(taken: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    plain = turns._note

    def note(before: int) -> str:
        notes.append(plain(before))
        taken.set()
        return notes[-1]

    monkeypatch.setattr(turns, "_note", note)
    app = AppTest.from_function(page, default_timeout=PATIENCE).run()
    assert not app.exception
    assert [element.value for element in app.markdown] == ["1 at work"]
    assert len(notes) == 1
    assert "You are next." in notes[0]
    assert "3 ahead of you." in plain(3)
    assert "Waiting" not in str(app.main), "the note is gone"
    assert (turns.PAGES.running, turns.PAGES.waiting) == (0, 0)


def test_a_page_that_fails_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PAGES", FairQueue(1))

    def failing() -> None:
        from web.turns import turn

        with turn():
            raise ValueError

    for _ in range(2):
        assert AppTest.from_function(failing, default_timeout=PATIENCE).run().exception
    assert turns.PAGES.running == 0
