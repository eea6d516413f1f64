"""Which pages may open the app's websocket in a visitor's browser: its own, and those that the operator allows.

Streamlit lets in any page of the same machine, whatever its port: another program there may show anybody's.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import config

_POLICY_VIOLATION = 1008


class OwnPages:
    """Middleware that refuses a websocket, before it is accepted, to a page of another host or port."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not _may_connect(Headers(scope=scope)):
            await WebSocket(scope, receive, send).close(_POLICY_VIOLATION)
            return
        await self._app(scope, receive, send)


def _may_connect(headers: Headers) -> bool:
    """What is no browser sends no origin. No page can set the header by which a proxy tells the host it was asked for.

    The operator allows others by Streamlit's own settings: ``server.corsAllowedOrigins``, ``browser.serverAddress`` (of
    any port), or ``server.enableCORS = false`` for all.
    """
    origin = headers.get("origin")
    if origin is None or not config.get_option("server.enableCORS"):
        return True
    try:
        page = urlsplit(origin.lower())
        name = page.hostname
    except ValueError:
        return False
    hosts = [headers.get(name, "").lower() for name in ("host", "x-forwarded-host")]
    allowed = [site.strip().lower() for site in config.get_option("server.corsAllowedOrigins")]
    address = config.get_option("browser.serverAddress") if config.is_manually_set("browser.serverAddress") else None
    return bool(page.netloc) and (page.netloc in hosts or origin.lower() in allowed or name == address)
