"""The steps of long work on texts: between two of them it can be stopped, and others have their turn."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

between: Final[ContextVar[Callable[[int, int], None] | None]] = ContextVar("between two steps", default=None)
"""Called with how many characters more are done, and how many more there are than was known. What it raises ends the
work.
"""


def step(n_characters: int = 0, n_more: int = 0) -> None:
    """Called by what reads texts, after every line at least."""
    act = between.get()
    if act is not None:
        act(n_characters, n_more)
