"""Reading what a visitor brings: a job that has it done in a process of its own, with limits of time and memory, so
that other people's clicks and jobs go on meanwhile.
"""

from __future__ import annotations

import logging
import pickle
import tempfile
import time
from collections.abc import Generator, Hashable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from jobs.job import Job, time_left
from model_zoo import confined
from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.types import MB

_log = logging.getLogger(__name__)

_CHILD: Final = str(Path(__file__).with_name("read_apart"))
_SECONDS_BETWEEN_LOOKS: Final = 0.1
_LARGEST_RESULT: Final = 1_000 * MB
_WHY: Final = {
    "time": "it was not read after {seconds:.0f} seconds of computing. Use a sample of it.",
    "memory": "to read it takes more than {megabytes:,} MB of memory. Use a sample of it.",
    "disk": "the disk has no room for what was read. Try again later.",
    "start": "no process could be started to read it. Try again later.",
}


class Reading(Job):
    """``call`` is a function of a module, whose last argument it has got: it and what it returns are pickled. ``key``
    tells what is read, and how, from anything else; ``names`` are those of the files, which have ``n_bytes``. It may
    compute for ``seconds`` and take ``n_memory`` bytes.
    """

    doing = "reading a file"
    apart = True

    def __init__(
        self, key: tuple[Hashable, ...], call: partial[Any], names: str, n_bytes: int, *, seconds: float, n_memory: int
    ) -> None:
        super().__init__()
        self.key: tuple[Hashable, ...] = key
        self.n_done = 0  # characters
        self._call, self._names, self._n_total = call, names, n_bytes
        self._n_bytes, self._seconds, self._n_memory = n_bytes, seconds, n_memory
        self._result: object = None
        self._refused: InvalidInput | None = None
        self._began = time.monotonic()

    @property
    def exclusive(self) -> bool:
        """One process at a time, whose memory is then all that reading takes."""
        return True

    @property
    def share(self) -> float:
        return min(0.99, self.n_done / max(self._n_total, 1)) if self.running else 1.0

    @property
    def progress(self) -> str:
        return f"Reading: {self.n_done:,} characters{time_left(time.monotonic() - self._began, self.share)}."

    @property
    def n_ended(self) -> int:
        return 0

    def steps(self) -> Generator[None, None, None]:
        self._began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            result, progress = Path(folder) / "result", Path(folder) / "progress"
            process = self._process(str(result), str(progress))
            del self._call  # and the files with it
            with process:
                while (outcome := process.wait(_SECONDS_BETWEEN_LOOKS)) is None:
                    self._look_at(progress)
                    if time.monotonic() - self._began > 2 * self._seconds:
                        self._refuse("time")
                    yield
            if outcome.failure == "error":
                _log.error("the process that reads a file: %s", outcome.message)
                raise RuntimeError
            if outcome.failure is not None:
                self._refuse(outcome.failure)
            self._result, self._refused = pickle.loads(result.read_bytes())
        if self._refused is not None:
            raise self._refused.with_traceback(None)  # which would keep what was built

    def take(self) -> object:
        """What was read, once it is over: nothing of that stays here. Raises InvalidInput where it could not be read,
        ModelZooError where that failed.
        """
        if self._refused is not None:
            raise self._refused.with_traceback(None)
        if self.failure is not None:
            raise ModelZooError(self.failure)
        result, self._result, self.key = self._result, None, (None,)
        return result

    def _process(self, *files: str) -> confined.Process:
        try:
            return confined.Process(
                _CHILD,
                *files,
                package=self._call.func.__module__,
                seconds=self._seconds,
                n_bytes=self._n_memory,
                file_bytes=_LARGEST_RESULT,
                stdin=pickle.dumps(self._call),
            )
        except OSError:
            self._refuse("start")

    def _refuse(self, failure: str) -> NoReturn:
        why = _WHY[failure].format(seconds=self._seconds, megabytes=self._n_memory // MB)
        self._refused = InvalidInput(f"{self._names}: {why}")
        raise self._refused

    def _look_at(self, progress: Path) -> None:
        with suppress(OSError, ValueError):  # not written yet, or just being written
            n_done, n_more = map(int, progress.read_text(encoding="ascii").split())
            self.n_done, self._n_total = n_done, self._n_bytes + n_more
