"""The one form of the log, and what never stands in it."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest

from web import logs

SECRET = "My secret sentence."


@pytest.fixture
def written(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is written to stderr once logs are configured in the form that the test is given; undone afterwards."""
    form: Literal["text", "json"] = getattr(request, "param", "text")
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    every = [logging.root, *(entry for entry in logging.root.manager.loggerDict.values() if hasattr(entry, "handlers"))]
    before = [(logger, logger.handlers[:], logger.propagate, logger.filters[:]) for logger in every]
    logs.configure(form)
    yield stream
    logging.setLogRecordFactory(logging.LogRecord)
    for logger, handlers, propagate, filters in before:
        logger.handlers[:], logger.propagate, logger.filters[:] = handlers, propagate, filters


def fail() -> None:
    raise ValueError(SECRET)


def log_a_failure(name: str) -> None:
    try:
        fail()
    except ValueError:
        logging.getLogger(name).exception("it failed")


def test_text_has_the_places_of_an_exception_and_not_its_words(written: io.StringIO) -> None:
    log_a_failure("ui.somewhere")
    first, *places = written.getvalue().splitlines()
    assert first.endswith("ERROR ui.somewhere: it failed: ValueError")
    assert places[-1].startswith(f"  {__file__}:")
    assert places[-1].endswith(" in fail")
    assert SECRET not in written.getvalue()


@pytest.mark.parametrize("written", ["json"], indirect=True)
def test_json_is_one_object_a_line(written: io.StringIO) -> None:
    logging.getLogger("ui.messages").error(
        "two\nlines", extra={"exception": "ValueError", "page": "Attention", "steps": ["view=lines"], "frames": ["a:1"]}
    )
    log_a_failure("ui.somewhere")
    first, other = map(json.loads, written.getvalue().splitlines())
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "ERROR", "logger": "ui.messages", "message": "two\nlines", "exception": "ValueError",
        "page": "Attention", "steps": ["view=lines"], "frames": ["a:1"],
    }  # fmt: skip
    assert (other["exception"], other["frames"][-1].rpartition(" ")[2]) == ("ValueError", "fail")
    assert SECRET not in written.getvalue()


def test_nothing_logged_can_look_like_another_line_and_what_streamlit_says_first_is_left_out(
    written: io.StringIO,
) -> None:
    logging.getLogger("ui.somewhere").warning("one\n2026-01-01T00:00:00.000Z ERROR ui: made up \x1b[31m")
    assert len(written.getvalue().splitlines()) == 1
    assert "\x1b" not in written.getvalue()
    log_a_failure("streamlit.error_util")
    logging.getLogger("streamlit.error_util").error("Uncaught app execution", exc_info=ValueError(SECRET))
    assert "Uncaught" not in written.getvalue()
    assert "it failed" in written.getvalue()


def test_requests_are_not_logged(written: io.StringIO) -> None:
    """Their lines hold the address, and an address the visitor's text."""
    loggers = [logging.getLogger(name) for name in ("uvicorn.access", "uvicorn.error", "ui.somewhere")]
    for logger in loggers:
        logger.info('%s - "GET %s HTTP/1.1" %d', "127.0.0.1", "/attention?text=My+secret", 200)
    assert written.getvalue() == ""
    for logger in loggers:
        logger.warning("Invalid HTTP request received.")
    assert written.getvalue().count("Invalid HTTP request received.") == 3


def test_a_logger_with_a_handler_of_its_own_does_not_tell_either(written: io.StringIO) -> None:
    """Libraries that are imported later bring such loggers."""
    stream = io.StringIO()
    logger = logging.Logger("made later")
    logger.addHandler(logging.StreamHandler(stream))
    try:
        fail()
    except ValueError:
        logger.exception("it failed")
    assert stream.getvalue() == "it failed: ValueError\n"
    assert written.getvalue() == ""
