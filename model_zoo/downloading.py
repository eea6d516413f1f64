"""Downloads beside everything else: one a model however many people ask, with a count of bytes to look at."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from model_zoo import sources
from model_zoo.download import Download
from model_zoo.errors import HubUnreachable, ModelZooError
from model_zoo.sources import Source

_log = logging.getLogger(__name__)

# Failures are kept to be shown; beyond these the oldest are forgotten, since anybody can name models without end.
_MOST_FAILED = 50


class Downloads:
    """The downloads under way, and the last one of each model that failed.

    ``find`` says what a model's name stands for, and refuses what is not to be downloaded.
    """

    def __init__(self, find: Callable[[str], Source]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._downloads: dict[str, Download] = {}

    def of(self, model: str) -> Download | None:
        with self._lock:
            return self._downloads.get(model)

    @property
    def coming(self) -> int:
        """Bytes still to come of all downloads under way."""
        with self._lock:
            return sum(each.n_bytes - each.done for each in self._downloads.values() if each.running)

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
                f"The download of {download.model} broke off. Try again; the log of the server says more."
            )
        with self._lock:
            del self._downloads[download.model]
            if download.error is not None:
                self._downloads[download.model] = download  # the latest failure last
            download.end()
            failed = [model for model, one in self._downloads.items() if not one.running]
            for model in failed[:-_MOST_FAILED]:
                del self._downloads[model]

    def _fetch(self, download: Download) -> None:
        def report(done: int) -> None:
            download.done = min(done, download.n_bytes)

        source = self._find(download.model)
        if source.folder is None:
            download.n_bytes = source.download_bytes
            sources.download(source, report)
            download.done = download.n_bytes
