"""One form for all that is logged, as text or JSON, and nobody's text in it.

An exception's own words can hold what was typed, and so can a line of what was requested: of an exception only its type
and the places it came through are written, and of all loggers only warnings and worse.
"""

from __future__ import annotations

import json
import logging
import time
from typing import Any, Literal

from model_zoo.text import single_line
from web.frames import frames

_make_record = logging.LogRecord

# What a record of ``ui.messages`` or an exception has beside its message.
_FIELDS = ("exception", "page", "steps", "frames", "question")

# Who logs that a question was asked or answered.
_QUESTIONS = ("look_inside_bert.model_zoo.engine", "look_inside_bert.serving.remote")

# Streamlit logs with all its words what it then hands to ``on_script_error``, which logs it without.
_TWICE = "streamlit.error_util"


class Formatter(logging.Formatter):
    """A record as one line of JSON, or as a line of text with the places of an exception below it."""

    def __init__(self, form: Literal["text", "json"]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self.converter = time.gmtime
        self.default_time_format, self.default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        extra = {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if self._form == "json":
            entry: dict[str, Any] = {
                "time": self.formatTime(record),
                "level": record.levelname,
                "logger": record.name,
                "message": record.getMessage(),
            }
            return json.dumps(entry | extra, ensure_ascii=False, default=repr)
        record.message, record.asctime = record.getMessage(), self.formatTime(record)
        lines = [self.formatMessage(record), *(f"  {frame}" for frame in extra.get("frames", ()))]
        return "\n".join(map(single_line, lines))  # nothing that is logged can look like another line of the log


def without_words(*args: Any, **kwargs: Any) -> logging.LogRecord:
    """A record that has an exception's type and places in place of the exception."""
    record = _make_record(*args, **kwargs)
    error = record.exc_info[1] if record.exc_info else None
    record.exc_info = None
    if error is not None:
        record.exception, record.frames = type(error).__name__, frames(error)
        record.msg, record.args = f"{record.getMessage()}: {type(error).__name__}", ()
    return record


def configure(form: Literal["text", "json"], *, questions: bool = False) -> None:
    """Make all loggers there are write in this form to stderr, and no logger ever an exception's words. Warnings and
    worse are written; of ``questions`` also that they were asked and answered.
    """
    logging.setLogRecordFactory(without_words)
    logging.getLogger(_TWICE).addFilter(_is_not_a_repetition)
    for logger in list(logging.root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger):
            logger.handlers.clear()
            logger.propagate = True
    for name in _QUESTIONS:
        logging.getLogger(name).setLevel(logging.INFO if questions else logging.WARNING)
    handler = logging.StreamHandler()
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name in _QUESTIONS)
    handler.setFormatter(Formatter(form))
    logging.root.handlers[:] = [handler]


def _is_not_a_repetition(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Uncaught app execution")
