"""One id for each question, from the click to the model: whoever asks sets it, whoever logs on the way writes it."""

from __future__ import annotations

import secrets
from contextvars import ContextVar

question_id: ContextVar[str] = ContextVar("question_id", default="")
"""The id under which this thread asks or answers; "" where nobody has given it one."""


def new_id() -> str:
    return secrets.token_hex(8)
