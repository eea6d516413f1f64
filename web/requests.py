"""Messages that any browser may send, and that would fail in Streamlit."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_UNSUPPORTED_DATA = 1003


class BinaryFrames:
    """Middleware that closes a websocket on which text is sent: Streamlit's protocol is binary, and it would raise."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        closed = False

        async def receive_binary() -> Message:
            nonlocal closed
            message = await receive()
            if message["type"] == "websocket.receive" and message.get("bytes") is None:
                closed = True
                await send({"type": "websocket.close", "code": _UNSUPPORTED_DATA})
                return {"type": "websocket.disconnect", "code": _UNSUPPORTED_DATA}
            return message

        async def send_while_open(message: Message) -> None:
            if not closed:
                await send(message)

        if scope["type"] == "websocket":
            await self._app(scope, receive_binary, send_while_open)
        else:
            await self._app(scope, receive, send)
