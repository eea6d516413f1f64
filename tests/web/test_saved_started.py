"""A tuned model saved from the server as it is really started, below a path; ended by SIGTERM it leaves nothing."""

import asyncio
import io
import urllib.request
import zipfile
from pathlib import Path

import in_a_loop
import pytest
from patience import PATIENCE

from benchmarks.server import app
from benchmarks.streamlit_client import Answer, visiting

ASKED = {"model": "embedded/tinybert", "epochs": "1", "examples": "40", "learns": "head"}


def link(answer: Answer) -> str | None:
    """Where the button that saves a model leads to."""
    every = [element.link_button for element in answer.elements() if element.WhichOneof("type") == "link_button"]
    return next((element.url for element in every if element.label == "Save the model (zip)"), None)


async def trained(url: str) -> bytes:
    """What a visitor saves who has trained a model: its first half, and then the rest."""
    async with visiting(url) as visitor:
        answer = await visitor.open("train", ASKED)
        (train,) = [
            element.button.id
            for element in answer.elements()
            if element.WhichOneof("type") == "button" and element.button.label == "Train"
        ]
        answer = await visitor.press(train)
        async with asyncio.timeout(PATIENCE):
            while (address := link(answer)) is None:
                await asyncio.sleep(0.2)
                answer = await visitor.set()
        return await asyncio.to_thread(in_two_parts, f"{url}/{address}")


def in_two_parts(address: str) -> bytes:
    parts = []
    for span in ("bytes=0-999999", "bytes=1000000-"):
        request = urllib.request.Request(address, headers={"Range": span, "Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            assert answer.status == 206
            assert answer.headers["Content-Encoding"] is None
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            parts.append(answer.read())
    return b"".join(parts)


@pytest.mark.slow
def test_a_model_is_saved_below_a_path_and_nothing_stays_behind(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1", "STREAMLIT_SERVER_BASE_URL_PATH": "bert"}
    roots = "look-inside-bert-*"
    with app("app.py", environment=environment) as (url, _process):
        assert url.endswith("/bert")
        saved = in_a_loop.run(trained(url))
        (root,) = tmp_path.glob(roots)
        assert len(list(root.iterdir())) == 2
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        assert archive.testzip() is None
        assert any(name.endswith("/model.safetensors") for name in archive.namelist())
    assert not list(tmp_path.glob(roots))
