"""The way there and back, without a cluster: who is refused, what happens when nobody answers, what is kept."""

import asyncio
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import urllib3
from equal import same
from over_http import PlainServer
from patience import PATIENCE
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from benchmarks.server import ROOT, TOKEN
from model_zoo import DEFAULT_MODEL, Engine, tracing, tuned
from model_zoo.errors import Busy, InvalidInput, OtherVersion, UnknownModel, Unreachable
from model_zoo.questions.attend import Attend
from model_zoo.questions.measure_cost import MeasureCost
from model_zoo.questions.probe_health import ProbeHealth
from serving import remote, service, wire
from serving.messages import ReadLayers
from serving.remote import RemoteEngine, Unforeseen
from serving.service import Service

TEXT = "The cat sat on the mat."
HEALTH = ProbeHealth.example(DEFAULT_MODEL)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_SECONDS_BEFORE_AGAIN", 0.0)
    monkeypatch.setattr(remote, "SECONDS_BETWEEN_LOOKS", 0.0)


def post(address: str, data: bytes, **headers: str) -> urllib3.BaseHTTPResponse:
    known = {"Authorization": f"Bearer {TOKEN}", wire.VERSION: wire.version()}
    return urllib3.request("POST", address, body=data, headers=known | headers, retries=False, timeout=PATIENCE)


@pytest.mark.parametrize("token", ["", "another", f"{TOKEN}x", "ключ"])
def test_who_does_not_know_the_token_gets_nothing(plain_server: PlainServer, token: str) -> None:
    with pytest.raises(OtherVersion, match="does not accept this app's token"):
        RemoteEngine(plain_server.address, token).ask(HEALTH)


def test_a_wrong_token_is_401_and_a_line_of_the_log_a_minute(engine, monkeypatch, caplog) -> None:
    now = 1000.0
    monkeypatch.setattr(service, "time", SimpleNamespace(monotonic=lambda: now))
    client = TestClient(Service(engine, TOKEN))
    sent = wire.pack(HEALTH)

    def refused(name: str, **headers: str) -> list[str]:
        caplog.clear()
        answer = client.post(name, content=sent, headers={wire.VERSION: "0", **headers})
        assert answer.status_code == 401
        assert b"does not accept" in answer.content
        assert {record.levelname for record in caplog.records if record.name == "look_inside_bert.serving.service"} <= {
            "WARNING"
        }
        return [record.getMessage() for record in caplog.records if record.name == "look_inside_bert.serving.service"]

    assert refused("/ask", Authorization="Bearer open-sesame") == [
        "requests that did not know the token were refused: 1"
    ]
    assert refused("/stream") == refused("/nothing") == refused("/ask", Authorization="x" * 5_000) == []
    now += 61
    assert refused("/ask", Authorization="Bearer ") == ["requests that did not know the token were refused: 4"]


def test_another_version_is_refused_with_a_sentence(plain_server: PlainServer, monkeypatch: pytest.MonkeyPatch) -> None:
    other = RemoteEngine(plain_server.address, TOKEN)
    other._headers[wire.VERSION] = "0.0.9-abc"
    with pytest.raises(OtherVersion, match=rf"0\.0\.9-abc, .* {re.escape(wire.version())}\."):
        other.ask(HEALTH)
    with pytest.raises(OtherVersion):
        list(other.fill_all(DEFAULT_MODEL, "The [MASK]."))
    monkeypatch.setattr(wire, "version", lambda: "later")
    with pytest.raises(OtherVersion, match="models later"):
        other.ask(HEALTH)


@pytest.mark.parametrize("data", [b"", b"\x80\x04.", b"no message", wire.pack([1, 2]), wire.pack("a string")])
@pytest.mark.parametrize("name", ["ask", "ask_all", "read"])
def test_what_is_no_question_is_refused_and_harms_nobody(plain_server: PlainServer, name: str, data: bytes) -> None:
    answer = post(f"{plain_server.address}/{name}", data)
    assert answer.status == 400 or b"Failed" in answer.data
    RemoteEngine(plain_server.address, TOKEN).ask(HEALTH)


def test_other_addresses_and_methods_are_nothing(plain_server: PlainServer) -> None:
    assert post(f"{plain_server.address}/nothing", b"").status == 404
    assert post(f"{plain_server.address}/__class__", b"").status == 404
    assert urllib3.request("GET", f"{plain_server.address}/ask", retries=False).status == 401
    assert urllib3.request("GET", f"{plain_server.address}/ready", retries=False).data == b"ready"


def test_too_much_at_once_is_refused(plain: RemoteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LARGEST_REQUEST", 1000)
    with pytest.raises(InvalidInput, match="more than the cluster reads at once"):
        plain.attend(DEFAULT_MODEL, "word " * 1000)


def test_only_a_tuned_models_files_are_removed(plain: RemoteEngine, engine: Engine) -> None:
    plain._forget(["../../etc", DEFAULT_MODEL, "tuned/../../x"])
    assert engine.has(DEFAULT_MODEL)


def test_a_failure_nobody_foresaw_has_an_id_and_no_words(plain, engine, monkeypatch, caplog) -> None:
    monkeypatch.setattr(Engine, "ask", lambda *_: [][1])
    token = tracing.question_id.set("0123456789abcdef")
    with pytest.raises(Unforeseen, match=r"^IndexError on the cluster, in question 0123456789abcdef$"):
        plain.ask(HEALTH)
    tracing.question_id.reset(token)
    assert "unforeseen failure of question 0123456789abcdef: IndexError" in caplog.text
    assert "list index out of range" not in caplog.text
    assert engine is not None


def test_one_id_from_the_question_to_the_model(plain: RemoteEngine, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("look_inside_bert.serving.remote", "look_inside_bert.model_zoo.engine"):
        caplog.set_level(logging.INFO, logger=name)
    token = tracing.question_id.set("feedfeedfeedfeed")
    plain.ask(HEALTH)
    tracing.question_id.reset(token)
    messages = [record.getMessage() for record in caplog.records if "feedfeedfeedfeed" in record.getMessage()]
    assert len(messages) == 2
    assert "goes to the cluster" in messages[0]
    assert re.search(r"answered by the model: ProbeHealth of embedded/bert, [\d.]+ ms", messages[1])
    assert not any(HEALTH.text in line for line in messages)


def test_a_cluster_that_is_gone_is_said_and_one_that_is_back_is_used(plain, plain_server) -> None:
    run = plain.attend(DEFAULT_MODEL, TEXT)
    seen = run.head(0, 0)
    plain_server.stop()
    with pytest.raises(Unreachable, match="does not answer"):
        plain.ask(HEALTH)
    assert not plain.reachable
    assert not plain.look()
    assert same(plain.attend(DEFAULT_MODEL, TEXT).head(0, 0), seen)  # what was seen is still there
    with pytest.raises(Unreachable):
        run.head(0, 1)
    plain_server.start()
    assert plain.look()
    assert plain.reachable
    assert plain.ask(HEALTH)


def test_a_stream_that_breaks_off_says_after_how_much(plain: RemoteEngine, plain_server: PlainServer) -> None:
    events = plain.stream(MeasureCost((DEFAULT_MODEL,), (8,), 1000))
    next(events)
    plain_server.stop()
    with pytest.raises(Unreachable, match=r"stopped after \d[\d,]* of its parts"):
        for _ in events:
            pass
    plain_server.start()


def flaky(first: list[Callable[[], Response]], then: Service) -> Starlette:
    """A service that gives other answers first, as a proxy does before replicas that die or are full."""

    class Flaky:
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            app: Any = first.pop(0)() if first else then
            await app(scope, receive, send)

    return Starlette(routes=[Route("/{name}", Flaky(), methods=["POST"])])


def died() -> Response:
    return Response("Internal Server Error", 500)


def full() -> Response:
    return Response("Request dropped due to backpressure", 503)


def torn() -> Response:
    """A connection that ends in the middle of an answer."""

    async def pieces() -> Any:
        yield b"\x00"
        raise ConnectionResetError

    return StreamingResponse(pieces(), media_type=wire.MESSAGE, headers={"Content-Length": "100"})


@pytest.mark.parametrize("once", [died, full, torn])
def test_a_replica_that_dies_or_is_full_for_a_moment_costs_nobody_an_answer(service, once) -> None:
    server = PlainServer(flaky([once], service))
    remote = RemoteEngine(server.address, TOKEN)
    assert remote.ask(HEALTH)
    assert remote.counts.retries == 1
    server.stop()


def test_asked_once_more_and_not_for_ever(service: Service) -> None:
    server = PlainServer(flaky([died, died, full, full], service))
    remote = RemoteEngine(server.address, TOKEN)
    with pytest.raises(Unreachable):
        remote.ask(HEALTH)
    with pytest.raises(Busy, match="more questions waiting than it takes in"):
        remote.ask(HEALTH)
    assert remote.ask(HEALTH)
    server.stop()


def test_a_download_is_followed(plain, engine, hub, checkpoint, monkeypatch) -> None:
    monkeypatch.setattr(engine, "_asks", True)
    hub.models["someone/tiny"] = checkpoint("bert")
    from model_zoo.errors import NotDownloaded

    with pytest.raises(NotDownloaded) as raised:
        plain.attend("someone/tiny", "a b")
    assert (raised.value.model, raised.value.n_bytes > 0) == ("someone/tiny", True)
    assert not plain.has("someone/tiny")
    download = plain.download("someone/tiny")
    download.wait()
    assert download.done == download.n_bytes > 0
    assert plain.downloading("someone/tiny") is None
    assert plain.has("someone/tiny")
    assert plain.attend("someone/tiny", "a b").n_tokens > 2


def test_a_download_that_fails_says_why(plain: RemoteEngine, no_hub: None) -> None:  # noqa: ARG001
    from model_zoo.errors import HubUnreachable

    download = plain.download("nobody/nothing")
    with pytest.raises(HubUnreachable):
        download.wait()
    failed = plain.downloading("nobody/nothing")
    assert failed is not None
    assert isinstance(failed.error, HubUnreachable)


def test_what_a_click_needs_travels_and_no_more(plain: RemoteEngine) -> None:
    """A head of a run of 128 tokens: as many bytes as its queries and keys, whatever the model's layers are."""
    run = plain.attend(DEFAULT_MODEL, TEXT * 18)
    before = plain.counts.received_bytes
    run.head(3, 3)
    wanted = 2 * run.n_tokens * (run.model.width // run.n_heads) * 4
    state_bytes = 1500 + 500 * len(plain.held())  # names, shapes, and what the replica says of itself and its models
    assert wanted < plain.counts.received_bytes - before < wanted + state_bytes


def test_changed_weights_are_other_answers(plain: RemoteEngine) -> None:
    plain.attend(DEFAULT_MODEL, TEXT)
    question = Attend(DEFAULT_MODEL, TEXT)
    before = plain._key(question, DEFAULT_MODEL)
    plain._revisions[DEFAULT_MODEL] = "another"
    assert plain._key(question, DEFAULT_MODEL) != before
    assert plain._key(ReadLayers(question, 0), DEFAULT_MODEL) != (ReadLayers(question, 0), "")


def test_state_of_a_replica_that_says_no_more_is_forgotten(plain, monkeypatch) -> None:
    assert not plain.started
    assert plain.held() == []
    plain.ask(HEALTH)
    assert plain.started
    assert DEFAULT_MODEL in [held.info.id for held in plain.held()]
    assert plain.device == "cpu"
    monkeypatch.setattr(remote, "_SECONDS_A_STATE_IS_GOOD", -1.0)
    assert plain.held() == []
    assert plain.device == "cluster"


def test_a_crowded_replica_is_not_asked_by_name(plain: RemoteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    plain.ask(HEALTH)
    assert not plain._crowded(DEFAULT_MODEL)
    monkeypatch.setattr(remote, "_FEW_WAIT", -1)
    assert plain._crowded(DEFAULT_MODEL)
    assert not plain._crowded("embedded/modernbert-that-nobody-has")


_LIGHT = """
import sys
import web.engine, web.app, pages
from pages import PAGES
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=float(sys.argv[1])).run()
for page in PAGES:
    app.switch_page(page.path).run()
    assert not app.exception, app.exception
    assert not app.error, [error.value for error in app.error]
heavy = {"torch", "transformers", "ray", "huggingface_hub", "tokenizers", "safetensors"} & set(sys.modules)
assert not heavy, heavy
print("light")
"""


@pytest.mark.slow
def test_a_web_process_without_models_imports_no_torch(plain_server: PlainServer) -> None:
    """Every page drawn once, in a process that asks a cluster."""
    from os import environ

    settings = {"INSIDE_BERT_ENGINE": plain_server.address, "INSIDE_BERT_ENGINE_TOKEN": TOKEN}
    drawn = subprocess.run(
        [sys.executable, "-c", _LIGHT, str(PATIENCE)], cwd=ROOT, env=environ | settings, capture_output=True, text=True
    )
    assert drawn.stdout.strip().endswith("light"), drawn.stderr[-3000:]


def test_half_a_tuned_model_is_none(plain: RemoteEngine, engine: Engine, tmp_path: Path, monkeypatch: Any) -> None:
    """A stream that breaks off while files are fetched leaves nothing that could be taken for a model."""
    model = tuned.new_id()
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes(b"x" * 10)
    monkeypatch.setattr(engine, "tuned_folder", lambda _: tmp_path)
    streamed = RemoteEngine._streamed

    def broken(self: RemoteEngine, *arguments: Any) -> Any:
        for n, piece in enumerate(streamed(self, *arguments)):
            if n == 2:
                raise Unreachable("broke off")
            yield piece

    with monkeypatch.context() as patch:
        patch.setattr(RemoteEngine, "_streamed", broken)
        with pytest.raises(Unreachable):
            plain.tuned_folder(model)
    with pytest.raises(UnknownModel):
        tuned.folder(model)
    folder = plain.tuned_folder(model)
    written = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert written == dict.fromkeys(("config.json", "model.safetensors"), b"x" * 10)
    plain._forget([model])
    with pytest.raises(UnknownModel):
        tuned.folder(model)


def test_a_cluster_that_takes_too_long_is_asked_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    received, over = threading.Event(), threading.Event()

    def slow() -> Response:
        async def pieces() -> Any:
            await asyncio.to_thread(over.wait, PATIENCE)
            yield b""

        received.set()
        return StreamingResponse(pieces(), media_type=wire.MESSAGE)

    monkeypatch.setattr(remote, "_SECONDS", 0.2)
    server = PlainServer(flaky([slow], service))
    impatient = RemoteEngine(server.address, TOKEN)
    with pytest.raises(Unreachable):
        impatient.ask(HEALTH)
    assert received.wait(PATIENCE)
    over.set()
    assert impatient.counts.retries == 0
    server.stop()
