"""The allocator of a server: less memory kept by many threads, in a process of its own."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from web import allocator

ROOT = Path(__file__).parents[2]

CROWD = """
import sys, threading
import psutil
from web import allocator
if sys.argv[1] == "less":
    allocator.keep_less()
def work():
    with turn:
        held = [bytearray(200_000) for _ in range(100)]
        pinned.append(bytearray(2000))  # at the end of the heap: what lies before it cannot be cut off
        del held
    together.wait()  # a thread that ended would leave its heap to the next one
pinned, turn, together = [], threading.Lock(), threading.Barrier(16)
threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc, whose allocator this is about")
def test_many_threads_leave_less_behind() -> None:
    left = {}
    for how in ("as it is", "less"):
        command = [sys.executable, "-c", CROWD, how]
        left[how] = int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    assert left["less"] < left["as it is"]


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator, "_libc", lambda: None)
    allocator.keep_less()
    assert not allocator.give_back()
