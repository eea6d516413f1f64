"""What a browser fetches first: the documents of the pages, and Streamlit's scripts, both compressed.

Streamlit sends its scripts as they are, 3 to 8 MB for a first visit. They never change, so each is compressed once.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from web.paths import start

STATIC = Path(streamlit.__file__).parent / "static"
INDEX = (STATIC / "index.html").read_text(encoding="utf-8")
_KINDS = {".js": "text/javascript", ".css": "text/css"}
_FOREVER = "public, immutable, max-age=31536000"  # their names hold a digest


@dataclass(frozen=True, slots=True)
class File:
    """A file ready to be sent, compressed; ``tag`` tells whether a browser has it."""

    kind: str
    packed: bytes
    tag: str
    cache: str

    @classmethod
    def compress(cls, content: bytes, kind: str, cache: str) -> File:
        digest = hashlib.sha256(content).hexdigest()[:32]
        return cls(kind, gzip.compress(content, 6, mtime=0), f'W/"{digest}"', cache)

    def answer(self, headers: Headers) -> Response:
        """What a browser that sends these headers is given; one that knows no gzip gets the plain file."""
        headers_ = {"Cache-Control": self.cache, "ETag": self.tag, "Vary": "Accept-Encoding"}
        if self.tag in headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers_)
        if "gzip" not in headers.get("accept-encoding", ""):
            return Response(gzip.decompress(self.packed), headers=headers_, media_type=self.kind)
        return Response(self.packed, headers={**headers_, "Content-Encoding": "gzip"}, media_type=self.kind)


class Shell:
    """Middleware that answers with the ``documents`` of the pages, by their paths relative to ``server.baseUrlPath``,
    and with Streamlit's scripts and stylesheets. It holds those that were asked for: 3 MB, where every page was.
    """

    def __init__(self, app: ASGIApp, documents: Mapping[str, str]) -> None:
        self._app = app
        self._start = start()
        files = {
            path: File.compress(document.encode(), "text/html", "no-cache") for path, document in documents.items()
        }
        self._files = {f"{self._start}{path}": file for path, file in (files | {"index.html": files[""]}).items()}
        self._scripts = {
            f"{self._start}{path.relative_to(STATIC).as_posix()}": path
            for path in (STATIC / "static").rglob("*")
            if path.suffix in _KINDS
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        is_request = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if is_request and path in self._scripts and path not in self._files:
            self._files[path] = await run_sync(_packed, self._scripts[path])
        if is_request and path in self._files:
            await self._files[path].answer(Headers(scope=scope))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _packed(path: Path) -> File:
    return File.compress(path.read_bytes(), _KINDS[path.suffix], _FOREVER)
