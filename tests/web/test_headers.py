"""What every answer carries, and that the policy names every script that has to run."""

import re

import numpy as np
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from viz.bertviz_offline import bertviz_html
from viz.component import source_of
from web.headers import Headers, policy


def client(embedded_by: str = "") -> TestClient:
    async def page(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("page", headers={"X-Content-Type-Options": "other", "X-Own": "kept"})

    async def stream(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text("through")
        await websocket.close()

    return TestClient(
        Starlette(
            routes=[Route("/", page), WebSocketRoute("/stream", stream)],
            middleware=[Middleware(Headers, embedded_by=embedded_by)],
        )
    )


def test_every_answer_has_each_of_them_once_and_what_it_says_of_itself_stays() -> None:
    for path in ("/", "/missing"):
        headers = client().get(path).headers
        assert headers.get_list("x-content-type-options") == ["nosniff"]
        assert headers.get_list("x-frame-options") == ["SAMEORIGIN"]
        assert headers.get_list("referrer-policy") == ["same-origin"]
        assert "camera=()" in headers["permissions-policy"]
        assert "frame-ancestors 'self'" in headers["content-security-policy"].split("; ")
    assert client().get("/").headers["x-own"] == "kept"
    with client().websocket_connect("/stream") as websocket:
        assert websocket.receive_text() == "through"


def test_a_site_of_the_settings_may_frame_the_app() -> None:
    headers = client("https://moodle.example.org").get("/").headers
    assert "frame-ancestors 'self' https://moodle.example.org" in headers["content-security-policy"].split("; ")
    assert "x-frame-options" not in headers  # it cannot name a site, and would forbid this one


def test_the_apps_own_websocket_is_named_and_nothing_else() -> None:
    for host, sources in (
        ("bert.example.org:8501", "'self' ws://bert.example.org:8501 wss://bert.example.org:8501"),
        ("[::1]:8501", "'self' ws://[::1]:8501 wss://[::1]:8501"),
        ("evil; script-src *", "'self'"),
        ("evil https://other.org", "'self'"),
    ):
        policy_ = client().get("/", headers={"host": host}).headers["content-security-policy"]
        assert [part for part in policy_.split("; ") if part.startswith("connect-src")] == [f"connect-src {sources}"]


def test_no_script_but_those_named_can_run() -> None:
    scripts = policy("")["script-src"].split()
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "https:", "http:"} & set(scripts)
    assert policy("")["default-src"] == "'none'"


def test_scripts_of_a_framed_bertviz_view_are_named() -> None:
    for kind in ("head", "model"):
        document = bertviz_html(kind, [np.eye(2, dtype=np.float32)[None]], ["a", "b"])
        scripts = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
        assert len(scripts) == 3
        assert {source_of(script) for script in scripts} <= set(policy("")["script-src"].split())
