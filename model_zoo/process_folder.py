"""A folder for temporary files that a process has to itself, and that another one removes where it could not.

While the process lives it holds a lock on the folder, which ends with it, however that ends: what is not locked is
swept by the next process that starts. (systemd-tmpfiles keeps away from locked folders, too.)
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from model_zoo.errors import ModelZooError

if sys.platform != "win32":
    import fcntl


_ABANDONED_SECONDS = 3600.0
"""What nobody has written to for so long belongs to a process that was killed."""


def remove_abandoned(places: Iterable[Path]) -> None:
    """Remove files and folders that killed processes have left: half of a download, half of a conversion."""
    for place in places:
        with suppress(OSError):  # another process was quicker
            if time.time() - place.stat().st_mtime > _ABANDONED_SECONDS:
                remove(place)


def remove(place: Path) -> None:
    """Remove a file, or a folder with all in it, as far as that can be done."""
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):
        place.unlink()


def made_private(folder: Path) -> None:
    """Make a folder for this user alone in a place where everybody may write, unless it is there. Raises ModelZooError
    where something else is there: anybody may have guessed its name.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    there = folder.lstat()
    if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.getuid() or there.st_mode & 0o077:
        raise ModelZooError(
            f"{folder} is no folder of this user alone: it is another user's, a link, or open to others. Remove it, or "
            "set tuned_folder to another place."
        )


class ProcessFolder:
    """One of these folders; ``prefix`` tells all of its kind from other files. It is made when it is first wanted."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._name = f"{prefix}{os.getpid()}-{secrets.token_hex(8)}"
        self._lock: int | None = None
        self._making = threading.Lock()
        self._closed = False
        atexit.register(self.close)

    @property
    def path(self) -> Path:
        """Where it is; it need not exist."""
        return Path(tempfile.gettempdir(), self._name)

    def made(self) -> Path:
        """Where it is; made anew where it was cleaned away. Raises ModelZooError where it was closed."""
        with self._making:
            if self._closed:
                raise ModelZooError("The app is shutting down and saves nothing more. Start it again.")
            while not self.path.is_dir():
                self.path.mkdir(mode=0o700, parents=True)
                self._hold()  # if another process has swept it just before, it is made again
        return self.path

    def close(self) -> None:
        """Remove it for good: the process ends."""
        with self._making, suppress(OSError):  # where there is no place for temporary files
            self._closed = True
            shutil.rmtree(self.path, ignore_errors=True)

    def sweep(self) -> None:
        """Remove the folders of processes that were killed. Called at the start."""
        for folder in Path(tempfile.gettempdir()).glob(f"{self.prefix}*-*"):
            self._remove_if_left(folder)

    if sys.platform == "win32":

        def _hold(self) -> None:
            """Does nothing: the process' number stands in the name."""

        def _remove_if_left(self, folder: Path) -> None:
            number = folder.name.removeprefix(self.prefix).partition("-")[0]
            if number.isdecimal() and not psutil.pid_exists(int(number)):
                shutil.rmtree(folder, ignore_errors=True)

    else:

        def _hold(self) -> None:
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None
            with suppress(OSError):  # swept again; or it lies where there are no locks, and nobody sweeps it
                self._lock = os.open(self.path, os.O_RDONLY)
                fcntl.flock(self._lock, fcntl.LOCK_EX)

        def _remove_if_left(self, folder: Path) -> None:
            with suppress(OSError):  # its process lives, or it is another user's
                opened = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(opened)
