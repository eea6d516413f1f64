"""Downloads beside everything else, here or on a cluster that makes them: one a model however many people ask, with a
count of bytes to look at.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from model_zoo.errors import HubUnreachable, ModelZooError

_log = logging.getLogger(__name__)

# Failures are kept to be shown; beyond these the oldest are forgotten, since anybody can name models without end.
_MOST_FAILED = 50


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
        """Called once by the thread that makes it: nothing more is reported, and waiting threads continue."""
        self._ended.set()

    def wait(self) -> None:
        """Return when the model is there; raises what went wrong."""
        self._ended.wait()
        if self.error is not None:
            raise self.error


class Downloads:
    """The downloads under way, and the last one of each model that failed.

    ``fetch`` makes one, notes how far it is, and raises what goes wrong.
    """

    def __init__(self, fetch: Callable[[Download], None]) -> None:
        self._fetch = fetch
        self._lock = threading.Lock()
        self._downloads: dict[str, Download] = {}

    def get(self, model: str) -> Download | None:
        with self._lock:
            return self._downloads.get(model)

    @property
    def coming(self) -> int:
        """Bytes still to come of all downloads under way."""
        with self._lock:
            return sum(download.n_bytes - download.done for download in self._downloads.values() if download.running)

    def start(self, model: str) -> Download:
        """Begin to fetch a model in a thread of its own, or join those who wait for it already."""
        with self._lock:
            download = self._downloads.get(model)
            if download is None or not download.running:
                download = self._downloads[model] = Download(model)
                threading.Thread(
                    target=self._run, args=(download,), name=f"download {model[:100]}", daemon=True
                ).start()
            return download

    def _run(self, download: Download) -> None:
        try:
            self._fetch(download)
        except ModelZooError as error:
            download.error = error
        except Exception:
            _log.exception("unexpected failure of a download")
            download.error = HubUnreachable(
                f"The download of {download.model} was interrupted. Try again; the log of the server says more."
            )
        with self._lock:
            del self._downloads[download.model]
            if download.error is not None:
                self._downloads[download.model] = download  # the latest failure last
            download.end()
            failed = [model for model, entry in self._downloads.items() if not entry.running]
            for model in failed[:-_MOST_FAILED]:
                del self._downloads[model]
