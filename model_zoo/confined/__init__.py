"""Work on files that came from anywhere, in a process of its own: what aborts, hangs or fills the memory harms nobody.

Each file beside this one is such a process, but ``start``, which sets the limits and runs the others. They import
neither this app nor transformers, see none of this process's environment, and are given what they may read as arguments
or as standard input.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
_MOST_SAID = 4000


Failure = Literal["error", "time", "memory", "disk", "start"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the process ended: ``failure`` is None where it did its work, and "start" where there was none to do it;
    ``said`` is the end of what it wrote.
    """

    failure: Failure | None
    said: str = ""


def run(
    child: str, *arguments: str, package: str, seconds: float, n_bytes: int, file_bytes: int = 0, given: bytes = b""
) -> Outcome:
    """Run a file of this folder, which needs ``package`` to be installed, with ``given`` as its standard input.

    It may compute for ``seconds``, wait for twice as long, take ``n_bytes`` of memory beside what its libraries take,
    and write files of ``file_bytes`` each.
    """
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    limits = (str(Path(found.origin).parents[1]), package, str(int(seconds)), str(n_bytes), str(file_bytes))
    environment = _ENVIRONMENT | {name: os.environ[name] for name in _KEPT if name in os.environ}
    with tempfile.TemporaryFile() as said:  # no pipe: what is written has a limit, too
        try:
            command = [sys.executable, "-I", str(_HERE / "start.py"), child, *limits, *arguments]
            ended = subprocess.run(
                command, input=given, stdout=said, stderr=said, timeout=2 * seconds, env=environment, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome("time")
        except OSError as error:
            return Outcome("start", str(error))
        said.seek(max(0, said.tell() - _MOST_SAID))
        words = said.read().decode("utf-8", "replace").strip()
    return Outcome(_failure(ended.returncode, words), words)


def _failure(code: int, said: str) -> Failure | None:
    if code == 0:
        return None
    if code == -getattr(signal, "SIGXCPU", 0):
        return "time"
    if code == -getattr(signal, "SIGKILL", 0) or any(words in said for words in _SHORTAGES):
        return "memory"
    if code == -getattr(signal, "SIGXFSZ", 0) or "No space left" in said or "File too large" in said:
        return "disk"
    return "error"
