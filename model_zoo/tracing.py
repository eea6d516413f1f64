"""One id for each question, from the click to the model: whoever asks sets it, whoever logs on the way writes it."""

from __future__ import annotations

import logging
import secrets
from contextvars import ContextVar

from model_zoo import registry

question_id: ContextVar[str] = ContextVar("question_id", default="")
"""The id under which this thread asks or answers; "" where nobody has given it one."""


def new_id() -> str:
    return secrets.token_hex(8)


def note(log: logging.Logger, event: str, kind: object, model: str, seconds: float) -> None:
    """Log that something was done for the question of this thread; never what was typed.

    ``kind`` is the question, of which the type is written. What nobody has given an id is not logged.
    """
    number = question_id.get()
    if number and log.isEnabledFor(logging.INFO):
        listed = model if registry.find(model) else "another model"  # whose name somebody typed
        log.info("question %s %s: %s of %s, %.1f ms", number, event, type(kind).__name__, listed, 1000 * seconds)
