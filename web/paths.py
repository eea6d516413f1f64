"""Addresses that lead nowhere say so: Streamlit answers each of them with the start page, as if all were well."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

# Whose files may be HTML documents: what visitors save, components, and an app's own files.
_WITH_DOCUMENTS = ("media/", "component/", "app/static/")

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Not found</title></head>
<body><p>There is no page at this address. <a href="{start}">Go to the start page</a>.</p></body>
</html>
"""


def start() -> str:
    """The address of the start page: "/", or "/bert/" where ``server.baseUrlPath`` is "bert"."""
    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}/" if base else "/"


class UnknownPaths:
    """Middleware that answers 404 where Streamlit would give its page for an address that is none of ``pages``, and at
    those that are ``hidden``. Both are relative to ``server.baseUrlPath``; "" is the start page.
    """

    def __init__(self, app: ASGIApp, pages: Iterable[str], hidden: Callable[[str], bool] = lambda _path: False) -> None:
        self._app = app
        self._start = start()
        self._pages = {f"{self._start}{page}".rstrip("/") for page in (*pages, "index.html")}
        self._hidden = hidden
        self._with_documents = tuple(f"{self._start}{folder}" for folder in _WITH_DOCUMENTS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._may_be_a_document(scope["path"]):
            await self._app(scope, receive, send)
            return
        if self._hidden(scope["path"].removeprefix(self._start)):
            await self._not_found(scope, receive, send)
            return
        unknown = False

        async def send_what_was_asked_for(message: Message) -> None:
            nonlocal unknown
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                unknown = message["status"] < 300 and kind.startswith("text/html")
            if not unknown:
                await send(message)

        await self._app(scope, receive, send_what_was_asked_for)
        if unknown:
            await self._not_found(scope, receive, send)

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse(_PAGE.format(start=self._start), 404)(scope, receive, send)

    def _may_be_a_document(self, path: str) -> bool:
        return path.rstrip("/") in self._pages or path.startswith(self._with_documents)
