"""What a browser is told with every answer: what the page may load, who may frame it, what stays secret.

Tokens and texts are escaped wherever they are drawn; should one get through, the policy here lets it neither run nor
send anything to another host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.bertviz_offline import script_sources
from viz.component import source_of

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)

_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d+)?|\[[0-9a-fA-F:]+\](:\d+)?")

# What no page uses, and no frame inside one may.
_PERMISSIONS = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), "
    "midi=(), payment=(), usb=()"
)


def fixed(embedded_by: str) -> dict[str, str]:
    """The headers that are the same for every answer but the policy; ``embedded_by`` as in the settings."""
    headers = {
        "X-Content-Type-Options": "nosniff",
        # Addresses hold what was typed.
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": _PERMISSIONS,
    }
    if not embedded_by:  # this old header knows no list of sites
        headers["X-Frame-Options"] = "SAMEORIGIN"
    return headers


def policy(embedded_by: str, documents: Iterable[str] = ()) -> dict[str, str]:
    """The Content-Security-Policy by its directives.

    Scripts: Streamlit's files, WebAssembly among them, those inside of the ``documents``, and components, which come
    from blobs.
    A frame without an address of its own inherits the policy, so BertViz's scripts are named, each by its digest.
    Styles are made by scripts all over Streamlit and cannot be named. Pictures, figures and downloads are data and
    blobs.
    """
    inline = [script for document in documents for script in _INLINE_SCRIPT.findall(document)]
    scripts = " ".join(dict.fromkeys([*map(source_of, inline), *script_sources()]))
    return {
        "default-src": "'none'",
        "script-src": f"'self' blob: 'wasm-unsafe-eval' {scripts}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "media-src": "'self' blob:",
        "worker-src": "'self' blob:",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": f"'self' {embedded_by}".strip(),
    }


class Headers:
    """Middleware that adds them to every answer; websockets pass untouched."""

    def __init__(self, app: ASGIApp, embedded_by: str = "", documents: Iterable[str] = ()) -> None:
        self._app = app
        self._fixed = fixed(embedded_by)
        self._policy = policy(embedded_by, documents)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update({**self._fixed, "Content-Security-Policy": self._policy_for(scope)})
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _policy_for(self, scope: Scope) -> str:
        """The policy. Older browsers do not take the page's own websocket for its own address, so it is named."""
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        sources = {"connect-src": f"'self' ws://{host} wss://{host}"} if _HOST.fullmatch(host) else {}
        return "; ".join(f"{name} {allowed}" for name, allowed in {**self._policy, **sources}.items())
