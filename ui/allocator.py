"""Gives memory that has been freed back to the system: glibc keeps it for later, and after many answers by many threads
that is more than the answers themselves take. Does nothing where the allocator is another one.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache

import psutil

_SECONDS = 2.0
_GROWTH = 32 * 2**20
"""Bytes by which the process has to have grown before freed memory is looked for again: one look takes 50 ms and more
of one core, and the interpreter is free meanwhile."""


@cache
def _trim() -> Callable[[int], int] | None:
    """glibc's ``malloc_trim(bytes to keep at the top of the heap)``, where there is one."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # another libc, or Windows, where there is no such library
        return None
    return trim


def give_back() -> bool:
    """Hand what was freed back to the system now; call it when a cache was emptied or a model forgotten.

    Returns whether there was anything to hand back.
    """
    trim = _trim()
    return trim is not None and bool(trim(0))


class Watch:
    """Gives freed memory back whenever the process has grown by ``growth`` bytes since it last did."""

    def __init__(self, growth: int = _GROWTH) -> None:
        self._growth = growth
        self._process = psutil.Process()
        self._least = self._process.memory_info().rss

    def look(self) -> bool:
        """Whether the process had grown, and so freed memory was given back."""
        resident = self._process.memory_info().rss
        self._least = min(self._least, resident)
        if resident < self._least + self._growth:
            return False
        give_back()
        self._least = self._process.memory_info().rss
        return True


def start(stop: threading.Event | None = None) -> threading.Thread | None:
    """Look every few seconds, in a thread of its own, until ``stop`` is set; None where nothing can be given back.

    Call it once, when the server starts.
    """
    if _trim() is None:
        return None
    stop = stop or threading.Event()

    def watch() -> None:
        watched = Watch()
        while not stop.wait(_SECONDS):
            watched.look()

    thread = threading.Thread(target=watch, name="allocator", daemon=True)
    thread.start()
    return thread
