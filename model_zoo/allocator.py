"""The system's memory allocator, told to keep less of what was freed. Does nothing where it is not glibc's.

Left alone, glibc gives every thread a heap of its own and keeps in each what that thread freed: with thirty visitors
that is more than all their answers take together.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

# mallopt's parameters, from malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8

_ARENAS = 2
_LARGE = 2**20
"""Bytes from which a block is the system's own and goes back to it at once; freed memory at the end of a heap, too."""


def keep_less() -> None:
    """From now on share two heaps among all threads, and give back large blocks at once. Call it before there are many
    threads: a heap that one has already stays.
    """
    libc = _libc()
    if libc is not None:
        libc.mallopt(_ARENA_MAX, _ARENAS)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.mallopt(_TRIM_THRESHOLD, _LARGE)


def give_back() -> bool:
    """Hand back what was freed, for when a model or answers were forgotten; whether there was anything to hand back."""
    libc = _libc()
    return libc is not None and bool(libc.malloc_trim(0))


@cache
def _libc() -> Any:
    """The C library, where it is glibc; else None."""
    try:
        libc = ctypes.CDLL(None)
        libc.malloc_trim  # noqa: B018 (other libraries have none)
    except (AttributeError, OSError, TypeError):  # TypeError: Windows
        return None
    return libc
