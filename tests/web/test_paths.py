"""Addresses that lead nowhere, in front of a server that answers all of them with its page, as Streamlit's does."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import config

from web.paths import UnknownPaths


def client() -> TestClient:
    async def anything(request: Request) -> Response:
        match request.url.path.rsplit(".", 1)[-1]:
            case "json":
                return JSONResponse({})
            case "gone":
                return HTMLResponse("not found", 404)
        return HTMLResponse("<p>the page", 206 if "range" in request.headers else 200)

    return TestClient(
        Starlette(
            routes=[Route("/{path:path}", anything)],
            middleware=[
                Middleware(UnknownPaths, pages=["", "attention"], hidden=lambda path: path == "_stcore/figures.json")
            ],
        )
    )


def test_pages_and_documents_are_given() -> None:
    for path in ("/", "/attention", "/attention/", "/index.html", "/media/saved.html", "/component/a/b.html"):
        answer = client().get(path)
        assert (answer.status_code, answer.text) == (200, "<p>the page")
    assert client().get("/some/file.json").status_code == 200  # what is no page is given wherever it lies
    assert client().get("/some/file.gone").text == "not found"


@pytest.mark.parametrize(
    "path", ["/nothing", "/attention/nothing", "/attentions", "/_stcore/nothing", "/static/js/nothing.js", "/.env"]
)
def test_others_are_not_found_and_lead_to_the_start_page(path: str) -> None:
    answer = client().get(path)
    assert answer.status_code == 404
    assert 'href="/"' in answer.text
    assert "the page" not in answer.text
    assert client().head(path).status_code == 404
    assert client().get(path, headers={"range": "bytes=0-3"}).status_code == 404


def test_what_is_hidden_is_not_found_whoever_asks_how() -> None:
    for path in ("/_stcore/figures.json", "/%5fstcore/figures%2Ejson"):
        for method in ("GET", "HEAD", "OPTIONS"):
            assert client().request(method, path).status_code == 404
    assert client().get("/figures.json").status_code == 200


def test_addresses_may_lie_under_a_folder() -> None:
    before = config.get_option("server.baseUrlPath")
    config.set_option("server.baseUrlPath", "bert")
    try:
        below = client()
        assert below.get("/bert/attention").status_code == 200
        assert below.get("/bert/").status_code == 200
        assert below.get("/bertattention").status_code == 404
        assert 'href="/bert/"' in below.get("/bert/nothing").text
        assert below.get("/attention").status_code == 404
        assert below.get("/bert/_stcore/figures.json").status_code == 404
    finally:
        config.set_option("server.baseUrlPath", before)
