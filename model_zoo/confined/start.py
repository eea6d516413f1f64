"""The beginning of a confined process: its limits first, then the file that it is for. See ``confined.run``.

What is refused by ``_refuse`` is a second wall: files are read here by code that runs nothing of them in any case.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from contextlib import suppress
from pathlib import Path


def _taken() -> int:
    """Bytes of addresses that this process has by now: its libraries."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096
    except OSError:
        return 4 * 2**30


def _limit(seconds: int, n_bytes: int, file_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for kind, most, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, seconds, seconds + 2),  # the signal at the first says what it was
        (resource.RLIMIT_AS, _taken() + n_bytes, _taken() + n_bytes),
        (resource.RLIMIT_FSIZE, file_bytes + 2**16, file_bytes + 2**16),  # and a few words of what went wrong
    ):
        try:
            resource.setrlimit(kind, (most, hard))
        except (OSError, ValueError):
            continue


# What nothing that reads a file has to do.
_REFUSED = """
subprocess. socket. os.exec os.fork os.posix_spawn os.spawn os.system os.startfile os.kill os.putenv pty. ctypes.dlopen
ftplib. urllib. smtplib. webbrowser.
"""


def _refuse(event: str, _arguments: object) -> None:
    if event.startswith(tuple(_REFUSED.split())):
        raise PermissionError(f"{event} is not allowed in this process")


def main() -> None:
    child, where, package, seconds, n_bytes, file_bytes, *arguments = sys.argv[1:]
    sys.path.insert(0, where)
    importlib.import_module(package)
    _limit(int(seconds), int(n_bytes), int(file_bytes))
    with suppress(OSError):  # where memory runs out, this process ends before any other does
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    sys.argv[1:] = arguments
    sys.addaudithook(_refuse)
    runpy.run_path(str(Path(__file__).parent / f"{child}.py"), run_name="__main__")


if __name__ == "__main__":
    main()
