"""A small hub on this machine that answers huggingface_hub as the real one does."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants
from safetensors.torch import load_file

from model_zoo import sources

COMMIT = "0123456789abcdef0123456789abcdef01234567"


Answer = tuple[int, dict[str, str], bytes]


class Hub:
    """A hub with models as folders; ``answers`` overrides a path: (status, headers, body).

    Of a file in ``breaks_off`` half is sent, and nothing afterwards; of one in ``breaks_once`` half is sent the first
    time; of one in ``held_back`` half is sent, and the rest when the event is set.
    """

    refusal: Answer = (403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."}, b"")

    def __init__(self) -> None:
        self.models: dict[str, Path] = {}
        self.answers: dict[str, Answer] = {}
        self.breaks_off: set[str] = set()
        self.breaks_once: set[str] = set()
        self.held_back: dict[str, threading.Event] = {}
        self.counts_parameters = True
        self.gated = False
        self.requests: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.answer(self, with_body=True)

            def do_HEAD(self) -> None:
                hub.answer(self, with_body=False)

            def log_message(self, *_args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, request: BaseHTTPRequestHandler, with_body: bool) -> None:
        path = request.path.split("?")[0]
        if path.startswith(("/api/models/", "/someone/")):  # huggingface_hub has errands of its own besides
            self.requests.append(f"{request.command} {path}")
        status, headers, body = self.answers.get(path) or self.found(path)
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if not with_body:
            return
        name, half = path.rsplit("/", 1)[-1], len(body) // 2
        if name in self.breaks_off | self.breaks_once:
            request.wfile.write(body[:half])
            request.close_connection = True
            if name in self.breaks_once:
                self.breaks_once.remove(name)
            else:
                self.answers[path] = (503, {}, b"")
        elif name in self.held_back:
            request.wfile.write(body[:half])
            self.held_back[name].wait()
            request.wfile.write(body[half:])
        else:
            request.wfile.write(body)

    def found(self, path: str) -> Answer:
        for model, folder in self.models.items():
            files = sorted(file for file in folder.iterdir() if file.is_file())
            if path in (f"/api/models/{model}", f"/api/models/{model}/revision/main"):
                return 200, {"Content-Type": "application/json"}, json.dumps(self.info(model, files)).encode()
            if path == f"/api/models/{model}/auth-check":
                return self.refusal if self.gated else (200, {}, b"")
            if path.startswith(f"/api/models/{model}/tree/"):
                tree = [
                    {"type": "file", "path": f.name, "size": f.stat().st_size, "oid": sha1(f.read_bytes())}
                    for f in files
                ]
                return 200, {"Content-Type": "application/json"}, json.dumps(tree).encode()
            prefix = f"/{model}/resolve/{COMMIT}/"
            if path.startswith(prefix) and (file := folder / path.removeprefix(prefix)) in files:
                if self.gated:
                    return self.refusal
                body = file.read_bytes()
                return 200, {"ETag": f'"{sha1(body)}"', "X-Repo-Commit": COMMIT}, body
        return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b"{}"

    def info(self, model: str, files: list[Path]) -> dict[str, Any]:
        info: dict[str, Any] = {
            "_id": "1",
            "id": model,
            "modelId": model,
            "sha": COMMIT,
            "private": False,
            "gated": "manual" if self.gated else False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "siblings": [{"rfilename": file.name, "size": file.stat().st_size} for file in files],
        }
        if self.counts_parameters and (weights := [f for f in files if f.name == "model.safetensors"]):
            count = numbers_in(weights[0])
            info["safetensors"] = {"parameters": {"F32": count}, "total": count}
        return info


def sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


def numbers_in(file: Path) -> int:
    return sum(tensor.numel() for tensor in load_file(file).values())


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A hub that answers until the block ends."""
    hub = Hub()
    thread = threading.Thread(target=hub.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        for event in hub.held_back.values():
            event.set()
        hub.server.shutdown()
        thread.join()
        hub.server.server_close()


def point_to(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let huggingface_hub take ``url`` for the hub, and keep what it downloads in ``folder``."""
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    # The pause before huggingface_hub takes up a download again.
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _seconds: None)
    sources.hub_reachable.cache.clear()
    sources._hub_info.cache.clear()
