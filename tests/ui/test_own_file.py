"""The one way in which pages read files: once for everybody, and by a job where it takes long."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from patience import PATIENCE, until
from streamlit.testing.v1 import AppTest

from analysis.steps import step
from model_zoo.errors import InvalidInput
from ui import own_file
from web.uploads import File

TEXT = b"three words here"
GATE = threading.Event()
READ: list[str] = []


def words(files: Sequence[File], least: int = 0) -> int:
    READ.append(files[0].name)
    while not GATE.is_set():
        step()
    n = len(files[0].data.split())
    if n < least:
        raise InvalidInput(f"{files[0].name} has too few words.")
    return n


def page(reader, name, text, least):  # type: ignore[no-untyped-def]  # a script of its own, which imports no types
    import streamlit as st

    from ui.messages import failures_as_messages
    from ui.own_file import read
    from web.uploads import File

    with failures_as_messages():
        st.metric("Words", read([File(name, text)], reader, least))


@pytest.fixture(autouse=True)
def nothing_is_read_yet() -> Iterator[None]:
    own_file._READ.clear()
    READ.clear()
    GATE.set()
    yield
    GATE.set()


def opened(name: str = "A-file", text: bytes = TEXT, least: int = 0) -> AppTest:
    return AppTest.from_function(page, default_timeout=PATIENCE, args=(words, name, text, least)).run()


def test_a_file_is_read_once_for_everybody_and_by_every_way_of_reading() -> None:
    for _ in range(2):
        assert opened().metric[0].value == "3"
    assert READ == ["A-file"]
    assert opened(least=1).metric[0].value == opened("B-file").metric[0].value == "3"
    assert READ == ["A-file", "A-file", "B-file"]


def test_what_takes_long_is_a_job_that_can_be_stopped_and_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_file, "_SECONDS_AT_ONCE", 0.0)
    GATE.clear()
    at = opened()
    assert [button.label for button in at.button] == ["Stop"]
    assert not at.metric
    at.button[0].click().run()
    desk = at.session_state["desk"]
    until(lambda: not desk.every(own_file.Reading)[0].running)
    at.run()
    assert [button.label for button in at.button] == ["Read it again"]
    assert "A" in at.info[0].value
    GATE.set()
    at.button[0].click().run()
    until(lambda: not desk.every(own_file.Reading)[0].running)
    assert at.run().metric[0].value == "3"
    assert not at.button
    assert READ == ["A-file", "A-file"]
    assert opened().metric[0].value == "3", "for others, too"
    assert len(READ) == 2


def test_what_a_job_could_not_read_is_said_at_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_file, "_SECONDS_AT_ONCE", 0.0)
    at = opened(least=9)
    until(lambda: not at.session_state["desk"].every(own_file.Reading)[0].running)
    for _ in range(2):
        assert "A" in at.run().warning[0].value
    assert READ == ["A-file"]
