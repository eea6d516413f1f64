"""A download under way or ended, as whoever waits for it sees it: here, or on a cluster that makes it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from model_zoo.errors import ModelZooError


@dataclass(eq=False)
class Download:
    """``done`` of ``n_bytes`` have come; ``error`` says why it failed.

    ``n_bytes`` is 0 until the hub has said how much it is, and where there is nothing to fetch.
    """

    model: str
    n_bytes: int = 0
    done: int = 0
    error: ModelZooError | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def converting(self) -> bool:
        """Whether all bytes are here, and what they hold is looked at."""
        return self.running and 0 < self.n_bytes <= self.done

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def end(self) -> None:
        """Called by who makes it, once: all is said now, and who waits goes on."""
        self._ended.set()

    def wait(self) -> None:
        """Return when the model is there; raises what went wrong."""
        self._ended.wait()
        if self.error is not None:
            raise self.error
