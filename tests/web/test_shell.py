"""What is fetched first: the pages' documents and Streamlit's scripts, compressed, and kept by browsers."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from web.shell import STATIC, Shell

DOCUMENTS = {"": "<h1>Home", "attention": "<h1>Attention"}
SCRIPT = next(path for path in (STATIC / "static" / "js").iterdir() if path.name.startswith("index."))


@pytest.fixture(scope="module")
def client() -> TestClient:
    async def streamlit(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("Streamlit's own")

    routes = [Route("/{path:path}", streamlit, methods=["GET", "POST"])]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Shell, documents=DOCUMENTS)]))


@pytest.mark.parametrize(
    ("path", "description"), [("/", "<h1>Home"), ("/index.html", "<h1>Home"), ("/attention", "<h1>Attention")]
)
def test_every_page_has_its_document_that_is_asked_for_anew(client: TestClient, path: str, description: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.text) == (200, description)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert (answer.headers["cache-control"], answer.headers["content-encoding"]) == ("no-cache", "gzip")
    again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head(path).content == b""


def test_scripts_are_small_and_never_asked_for_again(client: TestClient) -> None:
    path = f"/{SCRIPT.relative_to(STATIC).as_posix()}"
    answer = client.get(path)
    assert answer.content == SCRIPT.read_bytes()
    assert int(answer.headers["content-length"]) < len(answer.content) / 2
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]


def test_who_knows_no_gzip_gets_the_file_as_it_is(client: TestClient) -> None:
    for path in ("/attention", f"/static/js/{SCRIPT.name}"):
        plain = client.get(path, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == client.get(path).content
        assert plain.headers["vary"] == "Accept-Encoding"


def test_everything_else_is_streamlits(client: TestClient) -> None:
    for path in ("/attention/", "/nothing", "/static/js/nothing.js", "/static/../index.html"):
        assert client.get(path).text in ("Streamlit's own", DOCUMENTS[""] if path.endswith("index.html") else "")
    assert client.post("/attention").text == "Streamlit's own"
