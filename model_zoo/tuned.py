"""Models that were tuned here: a folder each, under a name that nobody can guess, for as long as this process runs.

They are models like any other: their names go where names of models go. Whoever made one forgets it; where they take
too much disk together, those that were made first go first.
"""

from __future__ import annotations

import atexit
import re
import secrets
import shutil
import tempfile
import threading
from functools import cache
from pathlib import Path

from model_zoo.errors import DiskFull, UnknownModel

PREFIX = "tuned/"
_ID = re.compile(rf"{PREFIX}[0-9a-f]{{16}}")

MOST_BYTES = 4_000_000_000
"""Disk for all of them together: forty of the size of the embedded BERT."""

_RESERVE = 500_000_000  # never taken: the app itself and its logs write to the same disk
_making_room = threading.Lock()


def new_id() -> str:
    """A name for a model that is about to be tuned."""
    return f"{PREFIX}{secrets.token_hex(8)}"


def is_id(model: str) -> bool:
    """Whether this is such a name. Looks at the name alone."""
    return _ID.fullmatch(model) is not None


_shared: Path | None = None


def share(folder: Path) -> None:
    """Keep tuned models in a folder that other processes share, which stays when this one ends. Called at the start."""
    global _shared
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _shared = folder


def _root() -> Path:
    return _shared or _own_root()


@cache
def _own_root() -> Path:
    root = Path(tempfile.mkdtemp(prefix="look-inside-bert-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def _place(model: str) -> Path:
    if not is_id(model):
        raise ValueError(f"{model!r} is no name of a tuned model")
    return _root() / model.removeprefix(PREFIX)


def folder(model: str) -> Path:
    """Where a tuned model lies. Raises UnknownModel where it does no more."""
    found = _place(model)
    if not (found / "config.json").is_file():
        raise UnknownModel(
            "This model was trained in a visit that is over, or had to make room for others. Train it again, or choose "
            "another model."
        )
    return found


def make_folder(model: str, n_bytes: int) -> Path:
    """An empty folder for a model that takes so many bytes; the models that were made first make room for it.

    Raises DiskFull.
    """
    with _making_room:
        oldest = sorted(_root().iterdir(), key=lambda each: each.stat().st_mtime)
        while oldest and _size(_root()) + n_bytes > MOST_BYTES:
            shutil.rmtree(oldest.pop(0), ignore_errors=True)
        free = shutil.disk_usage(_root()).free - _RESERVE
        if n_bytes > free:
            raise DiskFull(
                f"The tuned model takes {n_bytes / 1e6:,.0f} MB, and the disk has {max(0, free) / 1e6:,.0f} MB left "
                "for it. Free some space, or tune a smaller model."
            )
        made = _place(model)
        made.mkdir(exist_ok=True)
        return made


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def state_folder(model: str) -> Path:
    """Where the state of a training that was stopped is kept until it goes on; it need not exist."""
    return _place(model).with_suffix(".stopped")


def forget(model: str) -> None:
    """Remove a tuned model's files, and what was kept of its training."""
    for place in (_place(model), state_folder(model)):
        shutil.rmtree(place, ignore_errors=True)
