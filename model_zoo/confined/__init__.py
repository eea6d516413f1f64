"""Work on files that came from anywhere, in a process of its own: what aborts, hangs or fills the memory harms nobody.

Each file beside this one is such a process, but ``start``, which sets the limits and runs the others and
``jobs/read_apart.py``. They import no transformers, see none of this process's environment, and are given what they may
read as arguments or as standard input.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

_HERE = Path(__file__).parent

# All of the environment that such a process has, where it is set here: without these Windows finds no libraries.
_KEPT = ("SYSTEMROOT", "TEMP", "TMP")
_ENVIRONMENT = {
    "TOKENIZERS_PARALLELISM": "false",
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
}

# How libraries say that no memory is left.
_SHORTAGES = ("memory allocation of", "MemoryError", "can't allocate memory", "Cannot allocate memory", "bad_alloc")
_MOST_OUTPUT = 4000


Failure = Literal["error", "time", "memory", "disk", "start"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the process ended: ``failure`` is None where it did its work, and "start" where there was none to do it;
    ``message`` is the end of what it wrote.
    """

    failure: Failure | None
    message: str = ""


class Process:
    """A file of this folder at work, or one elsewhere, by its path without the ending. It needs ``package`` to be
    installed, and has ``stdin`` as its standard input.

    It may compute for ``seconds``, take ``n_bytes`` of memory beside what its libraries take, and write files of
    ``file_bytes`` each. As a context manager it ends with the block. Raises OSError where none can be started.
    """

    def __init__(
        self, child: str, *arguments: str, package: str, seconds: float, n_bytes: int, file_bytes: int, stdin: bytes
    ) -> None:
        spec = importlib.util.find_spec(package.partition(".")[0])
        assert spec is not None
        assert spec.origin is not None
        where = Path(spec.origin).parents[spec.submodule_search_locations is not None]
        limits = (str(where), package, str(int(seconds)), str(n_bytes), str(file_bytes))
        environment = _ENVIRONMENT | {name: os.environ[name] for name in _KEPT if name in os.environ}
        command = [sys.executable, "-I", str(_HERE / "start.py"), child, *limits, *arguments]
        with ExitStack() as files:
            self._output = files.enter_context(tempfile.TemporaryFile())  # no pipe: what is written has a limit, too
            with tempfile.TemporaryFile() as source:
                source.write(stdin)
                source.seek(0)
                self._process = subprocess.Popen(
                    command, stdin=source, stdout=self._output, stderr=self._output, env=environment
                )
            files.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def wait(self, seconds: float) -> Outcome | None:
        """How it ended; None where it has not after so many seconds."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._output.seek(max(0, self._output.seek(0, os.SEEK_END) - _MOST_OUTPUT))
        words = self._output.read().decode("utf-8", "replace").strip()
        return Outcome(_failure(code, words), words)


def run(
    child: str, *arguments: str, package: str, seconds: float, n_bytes: int, file_bytes: int = 0, stdin: bytes = b""
) -> Outcome:
    """Run a ``Process`` to its end. It may wait for twice as long as it may compute."""
    try:
        process = Process(
            child, *arguments, package=package, seconds=seconds, n_bytes=n_bytes, file_bytes=file_bytes, stdin=stdin
        )
    except OSError as error:
        return Outcome("start", str(error))
    with process:
        return process.wait(2 * seconds) or Outcome("time")


def _failure(code: int, message: str) -> Failure | None:
    if code == 0:
        return None
    if code == -getattr(signal, "SIGXCPU", 0):
        return "time"
    if code == -getattr(signal, "SIGKILL", 0) or any(words in message for words in _SHORTAGES):
        return "memory"
    if code == -getattr(signal, "SIGXFSZ", 0) or "No space left" in message or "File too large" in message:
        return "disk"
    return "error"
