"""Which pages may open a websocket: the app's own, whatever stands before it, and those that the operator names."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config

from web.origins import OwnPages


@pytest.fixture
def option() -> Iterator[Any]:
    """Sets an option of Streamlit's as its configuration does."""
    before: dict[str, Any] = {}

    def put(name: str, value: Any) -> None:
        before[name] = config.get_option(name)
        config.set_option(name, value, "a test")

    yield put
    for name, value in before.items():
        config.set_option(name, value, config.ConfigOption.DEFAULT_DEFINITION)


def let_in(**headers: str) -> bool:
    async def stream(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.close()

    app = Starlette(routes=[WebSocketRoute("/stream", stream)], middleware=[Middleware(OwnPages)])
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with suppress(WebSocketDisconnect), TestClient(app).websocket_connect("/stream", headers=named):
        return True
    return False


def test_its_own_page_and_what_is_no_browser_are_let_in() -> None:
    for origin, host in (
        ("http://127.0.0.1:8501", "127.0.0.1:8501"),
        ("http://localhost:8501", "localhost:8501"),
        ("https://Bert.Example.org", "bert.example.org"),  # TLS ends at a proxy
        ("https://bert.example.org:8443", "bert.example.org:8443"),
        ("http://[::1]:8501", "[::1]:8501"),
    ):
        assert let_in(origin=origin, host=host)
    assert let_in(host="127.0.0.1:8501")
    # Where a proxy says that the page came through it.
    assert let_in(origin="http://localhost:8080", host="127.0.0.1:8501", x_forwarded_host="localhost:8080")


def test_another_page_is_not() -> None:
    for origin in (
        *(
            "http://127.0.0.1:9999",
            "http://localhost:8501",
            "http://127.0.0.1",
            "https://evil.org",
            "null",
            "",
            "http://[",
        ),
        *("http://127.0.0.1:8501.evil.org", "http://127.0.0.1:8501@evil.org"),
    ):
        assert not let_in(origin=origin, host="127.0.0.1:8501"), origin


def test_the_operator_can_name_others(option: Any) -> None:
    option("server.corsAllowedOrigins", ["https://bert.example.org:8443"])
    assert let_in(origin="https://bert.example.org:8443", host="127.0.0.1:8501")
    assert not let_in(origin="https://bert.example.org", host="127.0.0.1:8501")
    option("browser.serverAddress", "bert.example.org")
    assert let_in(origin="https://bert.example.org", host="127.0.0.1:8501")
    assert not let_in(origin="https://evil.org", host="127.0.0.1:8501")
    option("server.enableCORS", False)
    assert let_in(origin="https://evil.org", host="127.0.0.1:8501")
