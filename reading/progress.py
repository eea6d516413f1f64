"""Progress of reading a text, as characters, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

report: Final[ContextVar[Callable[[int, int], None] | None]] = ContextVar("reports how far reading is", default=None)
"""Called with how many characters more were read, and how many more there are than was known."""


def count(n_characters: int = 0, n_more: int = 0) -> None:
    """Report progress, where somebody listens. Readers call it after every line."""
    call = report.get()
    if call is not None:
        call(n_characters, n_more)
