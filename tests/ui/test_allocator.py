"""Freed memory goes back to the system."""

import ctypes
import threading

import psutil
import pytest

from ui import allocator

PIECE = 64 * 2**10  # below the size from which the allocator asks the system for each piece
N_PIECES = 2048

glibc = pytest.mark.skipif(allocator._trim() is None, reason="the allocator of this system is not glibc's")


def resident() -> int:
    return psutil.Process().memory_info().rss


class Pieces:
    """128 MB taken in small pieces and freed, all but the last, which keeps the heap from shrinking by itself."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        libc.malloc.argtypes = [ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
        pieces = [libc.malloc(PIECE) for _ in range(N_PIECES)]
        for piece in pieces:
            ctypes.memset(piece, 1, PIECE)
        self._free, self._last = libc.free, pieces.pop()
        for piece in pieces:
            libc.free(piece)

    def __del__(self) -> None:
        self._free(self._last)


@glibc
def test_freed_memory_is_given_back() -> None:
    allocator.give_back()
    before = resident()
    held = Pieces()
    grown = resident() - before
    assert grown > 0.9 * PIECE * N_PIECES  # the allocator keeps what was freed
    assert allocator.give_back()
    assert resident() - before < 0.2 * PIECE * N_PIECES
    del held


@glibc
def test_a_look_does_nothing_until_the_process_has_grown() -> None:
    allocator.give_back()
    watch = allocator.Watch(growth=PIECE * N_PIECES // 2)
    assert not watch.look()
    before = resident()
    held = Pieces()
    assert watch.look()
    assert resident() - before < 0.2 * PIECE * N_PIECES
    assert not watch.look()
    del held


@glibc
def test_the_thread_ends_when_told_to() -> None:
    stop = threading.Event()
    thread = allocator.start(stop)
    assert thread is not None
    assert thread.is_alive()
    stop.set()
    thread.join(timeout=10)
    assert not thread.is_alive()


def test_another_allocator_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator, "_trim", lambda: None)
    assert not allocator.give_back()
    assert allocator.start() is None
