"""Calls what reads a file, in a confined process: see ``jobs/reading.py``. Its standard input is the call, pickled; of
the files named, the first gets what it returned, or the InvalidInput, and the second how far it
is: characters done, and those there are more than bytes.
"""

import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from model_zoo.errors import InvalidInput
from reading import progress

_SECONDS = 0.2


class Noted:
    """How far a call is, noted in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._n_done = self._n_more = 0
        self._at = time.monotonic()

    def call(self, call: Callable[[], object]) -> object:
        progress.report.set(self._note)
        try:
            return call()
        finally:
            progress.report.set(None)

    def _note(self, n_characters: int, n_more: int) -> None:
        self._n_done += n_characters
        self._n_more += n_more
        if time.monotonic() - self._at > _SECONDS:
            self._at = time.monotonic()
            self._file.write_text(f"{self._n_done} {self._n_more}", encoding="ascii")


def main() -> None:
    result, noted = map(Path, sys.argv[1:])
    with suppress(OSError, AttributeError):  # Windows has none
        os.nice(10)
    outcome: tuple[object, InvalidInput | None]
    try:
        outcome = Noted(noted).call(pickle.load(sys.stdin.buffer)), None
    except InvalidInput as error:
        outcome = None, error
    except Exception as error:
        # An exception's own words can hold what was typed.
        sys.exit(f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")
    with result.open("wb") as file:
        pickle.dump(outcome, file, protocol=pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
