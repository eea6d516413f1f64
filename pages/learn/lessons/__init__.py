"""The lessons in their order. A lesson is added by adding its file, with a ``LESSON``, and its name here."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from pages.learn.lesson import Lesson

_NAMES = (
    "pieces",
    "embeddings",
    "before",
    "head",
    "heads",
    "layer",
    "layers",
    "sight",
    "positions",
    "guessing",
    "following",
    "smaller",
    "family",
    "using",
    "tagging",
    "answering",
    "sentences",
    "explaining",
)

LESSONS: Final[dict[str, Lesson]] = {name: import_module(f"{__name__}.{name}").LESSON for name in _NAMES}
