"""A job whose work can be counted: how much of how much is done, at which stage, and about how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import ClassVar, TypeVar

from jobs.job import Job, time_left
from model_zoo.engine_interface import EngineInterface
from model_zoo.types import counted

Part = TypeVar("Part")


class StagedJob(Job):
    """Asks an engine, and counts ``n_done`` of ``n_total``; ``stage`` says for the screen what it is at. ``steps`` sets
    the stage, reads answers by ``_read`` and counts what they are worth.
    """

    unit: ClassVar[str] = ""
    """The noun of one counted step on the screen; "" shows the share done instead."""

    def __init__(self, engine: EngineInterface, n_total: int = 0, stage: str = "Waiting") -> None:
        super().__init__()
        self.stage = stage
        self.n_done, self.n_total = 0, n_total
        self._engine = engine
        self._seconds = 0.0  # of work; waiting for others does not count

    @property
    def share(self) -> float:
        return min(1.0, self.n_done / self.n_total) if self.n_total else 0.0

    @property
    def progress(self) -> str:
        done = f"{self.n_done:,} of {counted(self.n_total, self.unit)}" if self.unit else f"{self.share:.0%} done"
        return f"{self.stage}: {done}{time_left(self._seconds, self.share)}."

    def _read(self, parts: Generator[Part, None, None], note: Callable[[Part], object]) -> Generator[None, None, None]:
        """Hand what a stream gives to ``note``, one part per step, and count the seconds that it takes."""
        with closing(parts):
            while True:
                began = time.monotonic()
                part = next(parts, None)
                if part is not None:
                    note(part)
                self._seconds += time.monotonic() - began
                if part is None:
                    return
                yield
