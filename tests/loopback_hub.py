"""A small hub on this machine that answers huggingface_hub as the real one does."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from huggingface_hub import constants
from safetensors.torch import load_file

from model_zoo import sources

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FIRST_COMMIT = "f" * 40  # the one before, of every model
TALKS_A_PAGE = 10

Answer = tuple[int, dict[str, str], bytes]


@dataclass(frozen=True, slots=True)
class Conversion:
    """A pull request in which somebody, as a rule the hub itself, offers a model's owner the weights as safetensors.

    It holds the files of ``folder`` and follows the commit ``parent``; before it ``number`` - 1 people have asked
    something.
    """

    folder: Path
    author: str = "SFconvertbot"
    title: str = "Adding `safetensors` variant of this model"
    parent: str = COMMIT
    status: str = "open"
    commit: str = "c" * 40
    number: int = 1

    @property
    def reference(self) -> str:
        return f"refs/pr/{self.number}"


class Hub:
    """A hub with models as folders; ``answers`` overrides a path: (status, headers, body). ``conversions`` are what
    their owners have been offered.

    Of a file in ``breaks_off`` half is sent, and nothing afterwards; of one in ``breaks_once`` half is sent the first
    time; of one in ``held_back`` half is sent, and the rest when the event is set.
    """

    refusal: Answer = (403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."}, b"")

    def __init__(self) -> None:
        self.models: dict[str, Path] = {}
        self.conversions: dict[str, Conversion] = {}
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
        status, headers, body = self.answers.get(path) or self.respond(request.path)
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

    def respond(self, address: str) -> Answer:
        parts = urlsplit(address)
        path, query = unquote(parts.path), {key: values[0] for key, values in parse_qs(parts.query).items()}
        for model in self.models:
            api = f"/api/models/{model}"
            if path == api:
                return as_json(self.info(model, "main"))
            if path == f"{api}/auth-check":
                return self.refusal if self.gated else (200, {}, b"")
            if path == f"{api}/discussions":
                return as_json(self.discussions(model, query))
            for requested, (commit, folder) in self.revisions(model).items():
                if path == f"{api}/revision/{requested}":
                    return as_json(self.info(model, requested))
                if path == f"{api}/commits/{requested}":
                    return as_json(self.commits(model, commit))
                if path in (f"{api}/tree/{requested}", f"{api}/tree/{requested}/"):
                    return as_json([
                        {"type": "file", "path": name, "size": file.stat().st_size, "oid": sha1(file.read_bytes())}
                        for name, file in files_in(folder).items()
                    ])  # fmt: skip
                if path.startswith(f"{api}/tree/{requested}/"):  # a folder that no model has
                    return 404, {"X-Error-Code": "EntryNotFound"}, b"{}"
                prefix = f"/{model}/resolve/{requested}/"
                if path.startswith(prefix):
                    file = files_in(folder).get(path.removeprefix(prefix))
                    if file is None:
                        return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit}, b"{}"
                    if self.gated:
                        return self.refusal
                    body = file.read_bytes()
                    return 200, {"ETag": f'"{sha1(body)}"', "X-Repo-Commit": commit}, body
            if path.startswith((f"{api}/", f"/{model}/")):
                return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b"{}"

    def revisions(self, model: str) -> dict[str, tuple[str, Path]]:
        """The commit and the files that a branch, a pull request or a commit stands for."""
        revisions = {"main": (COMMIT, self.models[model]), COMMIT: (COMMIT, self.models[model])}
        offered = self.conversions.get(model)
        if offered is not None:
            revisions |= dict.fromkeys((offered.reference, offered.commit), (offered.commit, offered.folder))
        return revisions

    def commits(self, model: str, newest: str) -> list[dict[str, Any]]:
        """What led to a commit, newest first."""
        offered = self.conversions.get(model)
        before = [FIRST_COMMIT] if offered is None or offered.parent == COMMIT else [offered.parent, FIRST_COMMIT]
        made = dict.fromkeys((COMMIT, *before), "someone")
        if offered is not None and newest == offered.commit:
            made = {offered.commit: offered.author} | dict.fromkeys((offered.parent, FIRST_COMMIT), "someone")
        return [
            {"id": commit, "title": "Add a file", "message": "", "authors": [{"user": author, "avatar": ""}],
             "date": f"2023-03-{len(made) - place:02}T10:00:00.000Z"}
            for place, (commit, author) in enumerate(made.items())
        ]  # fmt: skip

    def discussions(self, model: str, query: dict[str, str]) -> dict[str, Any]:
        """One page of what people have asked and offered, newest first."""
        offered = self.conversions.get(model)
        discussions: list[dict[str, Any]] = []
        if offered is not None:
            discussions.append(a_talk(model, offered.number, offered.title, offered.author, offered.status, pull=True))
            discussions += [
                a_talk(model, number, "A question", "someone", "open", pull=False)
                for number in range(offered.number - 1, 0, -1)
            ]
        if (author := query.get("author")) is not None:
            discussions = [talk for talk in discussions if talk["author"]["name"] == author]
        if (kind := query.get("type", "all")) != "all":
            discussions = [talk for talk in discussions if talk["isPullRequest"] == (kind == "pull_request")]
        if (status := query.get("status", "all")) != "all":
            discussions = [talk for talk in discussions if (talk["status"] in ("open", "draft")) == (status == "open")]
        start = int(query.get("p", 0)) * TALKS_A_PAGE
        return {"discussions": discussions[start : start + TALKS_A_PAGE], "count": len(discussions), "start": start}

    def info(self, model: str, revision: str) -> dict[str, Any]:
        commit, folder = self.revisions(model)[revision]
        files = files_in(folder)
        info: dict[str, Any] = {
            "_id": "1", "id": model, "modelId": model, "sha": commit, "private": False, "tags": [], "downloads": 0,
            "likes": 0, "gated": "manual" if self.gated else False,
            "siblings": [{"rfilename": name, "size": file.stat().st_size} for name, file in files.items()],
        }  # fmt: skip
        if self.counts_parameters and "model.safetensors" in files:
            count = numbers_in(files["model.safetensors"])
            info["safetensors"] = {"parameters": {"F32": count}, "total": count}
        return info


def as_json(content: Any) -> Answer:
    return 200, {"Content-Type": "application/json"}, json.dumps(content).encode()


def files_in(folder: Path) -> dict[str, Path]:
    """The files of a model, with those in folders of it, by the names that the hub has for them."""
    return {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}


def a_talk(model: str, number: int, title: str, author: str, status: str, *, pull: bool) -> dict[str, Any]:
    return {
        "num": number, "title": title, "author": {"name": author, "type": "user"}, "status": status,
        "createdAt": "2023-03-17T10:00:00.000Z", "repo": {"name": model, "type": "model"}, "isPullRequest": pull,
    }  # fmt: skip


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
    # The pauses before huggingface_hub asks again: its own alone, because threads that look after something sleep, too.
    restless = SimpleNamespace(**vars(time) | {"sleep": lambda _seconds: None})
    for module in ("file_download", "utils._http"):
        monkeypatch.setattr(f"huggingface_hub.{module}.time", restless)
    sources.hub_reachable.cache.clear()
    sources._hub_info.cache.clear()
    sources._conversion.cache.clear()
