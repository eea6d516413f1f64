"""What work in the background has in common: it can be stopped and waited for."""

from __future__ import annotations

from threading import Event


class BackgroundWork:
    """Asked to stop, the work sees ``stopping`` and ends as soon as it can; it calls ``_over.set()`` when it ends."""

    def __init__(self) -> None:
        self._stop, self._over = Event(), Event()

    def stop(self) -> None:
        """End as soon as what is at work is done; what is finished stays."""
        self._stop.set()

    def wait(self, timeout: float) -> bool:
        """Whether it was over within so many seconds."""
        return self._over.wait(timeout)

    @property
    def running(self) -> bool:
        return not self._over.is_set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()
