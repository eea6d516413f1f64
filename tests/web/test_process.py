"""What a process keeps for all of its visitors: values, sockets that send at once, open files, memory."""

import platform
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from patience import PATIENCE

from model_zoo import allocator
from web import process
from web.nodelay import nodelay


def test_what_many_ask_for_at_once_is_made_once() -> None:
    made: list[int] = []
    all_there = threading.Barrier(8)

    @process.process_cache()
    def thing() -> object:
        made.append(threading.get_ident())
        return object()

    things: list[object] = []

    def ask() -> None:
        all_there.wait(PATIENCE)
        things.append(thing())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(made) == 1
    assert len(things) == 8
    assert len(set(map(id, things))) == 1


def test_what_failed_is_tried_again() -> None:
    tries: list[int] = []

    @process.process_cache(most=2)
    def thing(number: int) -> int:
        tries.append(number)
        if len(tries) == 1:
            raise OSError("not yet")
        return number

    with pytest.raises(OSError, match="not yet"):
        thing(1)
    assert [thing(1), thing(1), thing(2)] == [1, 1, 2]
    assert tries == [1, 1, 2]


def test_the_last_few_are_remembered() -> None:
    made: list[str] = []

    @process.process_cache(most=2, key=lambda name, _more: name)
    def thing(name: str, more: list[int]) -> str:
        made.append(name)
        return f"{name}{more}"

    assert thing("a", [1]) == thing("a", [2]) == "a[1]"
    thing("b", [])
    thing("c", [])
    thing("a", [3])
    assert made == ["a", "b", "c", "a"]


def sends_at_once(end: socket.socket) -> bool:
    return end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say which sockets a process has")
def test_every_connection_of_the_server_sends_at_once() -> None:
    """The server's socket is made as Streamlit makes it."""
    with socket.socket(socket.AF_INET) as server, socket.socket(socket.AF_INET) as other:
        for end in (server, other):
            end.bind(("127.0.0.1", 0))
        server.listen()
        with socket.create_connection(server.getsockname()) as browser, server.accept()[0] as early:
            assert not sends_at_once(early)
            nodelay()
            assert sends_at_once(early)
            with socket.create_connection(server.getsockname()), server.accept()[0] as late:
                assert sends_at_once(late)
            assert not sends_at_once(browser)  # nobody's business but the browser's


ROOT = Path(__file__).parents[2]

_SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
from web import open_files
open_files.allow_more()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("soft", "hard", "after", "visitors"),
    [(64, 64, 64, 5), (64, 200, 200, 22), (20, 20, 20, 0), (64, 1024, 1024, None), (1024, 1024, 1024, None)],
)
def test_it_is_raised_as_far_as_it_goes_and_said_where_it_is_low(soft, hard, after, visitors) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(soft), str(hard)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(after), str(hard)]
    if visitors is None:
        assert not done.stderr
    else:
        assert f"can open {after} files and connections" in done.stderr
        assert f"about {visitors} visitors" in done.stderr
        assert done.stderr.count("\n") == 1


CROWD = """
import sys, threading
import psutil
from model_zoo import allocator
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
