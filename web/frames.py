"""Where an exception came from, without its words: those can hold what was typed."""

from __future__ import annotations

import traceback
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def frames(error: BaseException) -> list[str]:
    """The places that led to it, outermost first: "ui/page.py:120 in run"."""
    return [f"{_short(frame.filename)}:{frame.lineno} in {frame.name}" for frame in _raw(error)]


def place(error: BaseException) -> str:
    """The last of them in the app's own code, "ui/page.py, line 120"; "" where none is."""
    places = [(path, frame.lineno) for frame in _raw(error) if (path := _relative(frame.filename))]
    return f"{places[-1][0]}, line {places[-1][1]}" if places else ""


def _raw(error: BaseException) -> traceback.StackSummary:
    return traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False)


def _relative(file: str) -> str:
    """A file's path from the app's root, where it is app.py or lies in a package there; "" for what was installed."""
    if not Path(file).is_relative_to(_ROOT):
        return ""
    relative = Path(file).relative_to(_ROOT)
    ours = len(relative.parts) == 1 or Path(_ROOT, relative.parts[0], "__init__.py").exists()
    return relative.as_posix() if ours else ""


def _short(file: str) -> str:
    return _relative(file) or file.rpartition("site-packages/")[2]
