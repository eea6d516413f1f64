"""Tuned models as files: addresses that nobody can guess, ranges, and what is said where there is none."""

import gc
import io
import os
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import in_a_loop
import pytest
from patience import PATIENCE
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import config
from streamlit.testing.v1 import AppTest

from model_zoo import Engine, tuned
from model_zoo.process_folder import ProcessFolder
from web import app
from web.saved import OFFERS, DownloadOffer, Saved

CONTENT = os.urandom(300_000)


class Files:
    """An engine that knows tuned models' files alone."""

    def tuned_folder(self, model: str) -> Path:
        return tuned.folder(model)


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DownloadOffer]:
    """A tuned model, offered at the address "here"."""
    monkeypatch.setattr(tuned, "OWN", ProcessFolder(tuned.OWN.prefix))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = tuned.new_id()
    with tuned.writing(model, len(CONTENT)) as folder:
        (folder / "config.json").touch()
        (folder / "model.safetensors").write_bytes(CONTENT)
    offer = OFFERS["here"] = DownloadOffer(model, "größe-1")
    yield offer
    tuned.forget(model)


SERVED = Saved(lambda: cast(Engine, Files()))


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=[Route("/saved/{name}", SERVED)])) as running:
        yield running


def test_the_file_is_sent_whole_and_in_parts(offered: DownloadOffer, client: TestClient) -> None:
    complete = client.get("/saved/here", headers={"Accept-Encoding": "gzip"})
    assert complete.status_code == 200
    assert complete.headers["content-type"] == "application/zip"
    assert complete.headers["content-disposition"] == "attachment; filename*=utf-8''gr%C3%B6%C3%9Fe-1.zip"
    assert complete.headers["content-length"] == str(len(complete.content))
    assert complete.headers["cache-control"] == "no-store"
    with zipfile.ZipFile(io.BytesIO(complete.content)) as archive:
        assert archive.namelist() == [f"{offered.name}/config.json", f"{offered.name}/model.safetensors"]
        assert archive.read(f"{offered.name}/model.safetensors") == CONTENT
    head = client.head("/saved/here")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(complete.content)))
    part = client.get("/saved/here", headers={"Range": "bytes=1000-1999", "If-Range": complete.headers["etag"]})
    assert (part.status_code, part.content) == (206, complete.content[1000:2000])
    assert part.headers["content-range"] == f"bytes 1000-1999/{len(complete.content)}"
    assert client.get("/saved/here", headers={"Range": "bytes=99999999-"}).status_code == 416
    assert client.post("/saved/here").status_code == 405


def test_an_address_ends_with_the_visit_and_with_the_model(offered: DownloadOffer, client: TestClient) -> None:
    visit = OFFERS["there"] = DownloadOffer(offered.model, "a file")
    assert client.get("/saved/there").status_code == 200
    del visit
    gc.collect()
    gone = client.get("/saved/there")
    assert gone.status_code == 404
    assert "that session is over" in gone.text
    tuned.forget(offered.model)
    gone = client.get("/saved/here")
    assert gone.status_code == 404
    assert "trained in a visit that is over" in gone.text
    assert client.get("/saved/guessed").status_code == 404


def test_where_there_is_no_room_that_is_said(offered, client, monkeypatch) -> None:
    monkeypatch.setattr(tuned, "_most", len(CONTENT) + 1000)
    full = client.get("/saved/here")
    assert full.status_code == 503
    assert "The archive of the model takes 0.4 MB, and 0.0 MB of the 0.3 MB" in full.text
    assert tuned.folder(offered.model).is_dir()


def test_who_stops_reading_lets_go_of_the_file(offered: DownloadOffer) -> None:
    async def gone(_message: Any) -> None:
        raise OSError("the browser is gone")

    async def nothing() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "path_params": {"name": "here"},
             "asgi": {"spec_version": "2.4"}}  # fmt: skip
    with pytest.raises(OSError, match="gone"):
        in_a_loop.run(SERVED(scope, nothing, gone))
    assert not tuned._being_read
    assert offered.model


@pytest.mark.parametrize(("base", "at"), [("", "/saved/{name}"), ("/bert/", "/bert/saved/{name}")])
def test_it_lies_below_the_apps_own_address(base: str, at: str) -> None:
    before = config.get_option("server.baseUrlPath")
    config.set_option("server.baseUrlPath", base)
    try:
        assert at in {route.path for route in app.routes()}
    finally:
        config.set_option("server.baseUrlPath", before)


def test_the_button_keeps_its_address_while_the_page_is_drawn_again() -> None:
    def script() -> None:
        from ui import save

        save.model("Save the model", "tuned/0123456789abcdef", "mine", "A file.")

    app_ = AppTest.from_function(script, default_timeout=PATIENCE).run()
    (first,) = [element.proto for element in app_.get("link_button")]
    folder, address = first.url.split("/")
    assert folder == "saved"
    assert OFFERS[address] == DownloadOffer("tuned/0123456789abcdef", "mine")
    (again,) = [element.proto for element in app_.run().get("link_button")]
    assert again.url == first.url
    another = AppTest.from_function(script, default_timeout=PATIENCE).run()
    (other,) = [element.proto for element in another.get("link_button")]
    assert other.url != first.url
