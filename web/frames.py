"""Where an exception came from, without its words: those can hold what was typed."""

from __future__ import annotations

import traceback
from pathlib import Path

_ROOT = Path(__file__).parents[1]

# What lies there is the app's own; the rest may be other packages, where the app is one of those that are installed.
OWN = frozenset(
    {
        "app.py",
        "pages",
        "classroom",
        "ui",
        "web",
        "jobs",
        "serving",
        "training",
        "evidence",
        "viz",
        "analysis",
        "reading",
        "model_zoo",
    }
)


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
    """A file's path from the app's root; "" for what was installed."""
    path = Path(file)
    if not path.is_relative_to(_ROOT) or (relative := path.relative_to(_ROOT)).parts[0] not in OWN:
        return ""
    return relative.as_posix()


def _short(file: str) -> str:
    return _relative(file) or file.rpartition("site-packages/")[2]
