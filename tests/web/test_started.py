"""The server as it is really started: by Streamlit's own command, and ended by SIGTERM."""

import json
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
import raw_visitor
from patience import PATIENCE, until
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from benchmarks import server
from benchmarks.streamlit_client import ends
from pages import PAGES

pytestmark = pytest.mark.slow  # an app of its own is started

ROOT = Path(__file__).parents[2]
SECRET = "Break it."
RESTART = 1012  # the code with which a websocket is closed by a server that ends, by RFC 6455's registry


@dataclass(frozen=True)
class Started:
    process: subprocess.Popen[bytes]
    host: str
    log: Path

    def get(self, path: str) -> tuple[int, dict[str, str], str]:
        status, headers, body = raw_visitor.get(self.host, path)
        return status, headers, body.decode("utf-8", "replace")

    def socket(self, session: str = "") -> ClientConnection:
        """A visitor's, who comes back to a ``session``."""
        protocols = ["streamlit", "no-token", session] if session else ["streamlit"]
        return connect(
            f"ws://{self.host}/_stcore/stream", subprotocols=protocols, origin=f"http://{self.host}", max_size=None,
            open_timeout=PATIENCE, ping_interval=None,
        )  # fmt: skip


def run(stream: ClientConnection, page: str, **query: str) -> list[ForwardMsg]:
    """What a visitor is sent who opens a page."""
    message = BackMsg()
    message.rerun_script.page_name, message.rerun_script.query_string = page, urlencode(query)
    stream.send(message.SerializeToString())
    elements = []
    while not elements or not ends(elements[-1]):
        elements.append(ForwardMsg.FromString(bytes(stream.recv(timeout=PATIENCE))))
    return elements


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    log = tmp_path_factory.mktemp("server") / "log"
    environment = {"INSIDE_BERT_LOG_FORMAT": "json", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with server.started([sys.executable, "tests/started_app.py"], environment, log) as (url, process):
        yield Started(process, url.removeprefix("http://"), log)


def test_headers_come_with_every_answer(started: Started) -> None:
    for path in ("/", "/attention", "/healthz", "/nothing", "/favicon.png", "/_stcore/host-config"):
        _, headers, _ = started.get(path)
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert "script-src 'self' blob:" in headers["content-security-policy"]


def test_it_can_answer_a_question(started: Started) -> None:
    until(lambda: started.get("/healthz")[0] == 200)  # the first time, a slow machine takes longer than it may
    _, headers, body = started.get("/healthz")
    assert headers["content-type"] == "application/json"
    assert json.loads(body)["healthy"] is True


def test_every_page_has_the_address_that_streamlit_gives_it(started: Started) -> None:
    with started.socket() as stream:
        sent = run(stream, "")
    settings = [message.page_config_changed for message in sent if message.WhichOneof("type") == "page_config_changed"]
    assert settings[0].favicon.startswith("data:image/svg+xml")  # a file would go when another visitor leaves
    *_, menu = [message.navigation for message in sent if message.WhichOneof("type") == "navigation"]
    addresses = ["" if page.is_default else page.url_pathname for page in menu.app_pages]
    assert len(addresses) == len(PAGES)
    assert {started.get(f"/{address}")[0] for address in addresses} == {200}


def test_what_the_page_is_made_of_is_there(started: Started) -> None:
    """Every file that Streamlit's page names, and where it looks for its server under a page's address first."""
    page = started.get("/attention")[2]
    files = re.findall(r'(?:src|href)="\.(/(?:static|favicon)[^"]+\.(?:js|css|png))"', page)
    assert len(files) > 10
    assert {started.get(file)[0] for file in (files[0], files[1], files[-1])} == {200}
    assert started.get("/attention/_stcore/health")[0] == 404  # as Streamlit itself answers
    assert started.get("/_stcore/health")[2] == "ok"


def test_an_address_that_leads_nowhere_says_so(started: Started) -> None:
    for path in ("/nothing", "/attention/nothing", "/_stcore/nothing", "/static/nothing.js", "/readyz"):
        status, _, body = started.get(path)
        assert status == 404
        assert 'href="/"' in body


def test_the_log_holds_a_failure_once_and_nobodys_text(started: Started) -> None:
    with started.socket() as stream:
        sent = run(stream, "attention", text=SECRET)
        kinds = [
            message.delta.new_element.WhichOneof("type") for message in sent if message.WhichOneof("type") == "delta"
        ]
        assert kinds == ["alert", "button"]
        assert "script_finished" in {message.WhichOneof("type") for message in run(stream, "attention", text="Fine.")}
    started.get(f"/attention?{urlencode({'text': SECRET})}")
    started.get(f"/nothing?{urlencode({'text': SECRET})}")
    written = started.log.read_text("utf-8")
    records = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    assert [record["exception"] for record in records if record["level"] == "ERROR"] == ["ValueError"]
    assert records[-1]["frames"][-1].endswith("in _breaks")
    others = [line.split(":")[0].strip() for line in written.splitlines() if line.strip() and not line.startswith("{")]
    assert others == ["You can now view your Streamlit app in your browser.", "URL"]
    assert SECRET not in written
    assert urlencode({"text": SECRET}) not in written


def test_no_visitor_empties_the_server(started: Started) -> None:
    """Anybody's socket may ask for it; what is kept for all, and what others have begun, stays."""

    def held() -> list[str]:
        return [line for line in started.get("/metrics")[2].splitlines() if line.startswith("inside_bert_model_bytes{")]

    with started.socket() as stream:
        run(stream, "attention", text="Models are held.")
        assert held()
        stream.send(BackMsg(clear_cache=True).SerializeToString())
        run(stream, "status")  # messages are served in their order, and this page loads no model
        assert held()


def test_however_many_sockets_come_and_go_nobody_loses_a_session(started: Started) -> None:
    """Streamlit keeps the last 128 that were lost."""

    def session_of(sent: list[ForwardMsg]) -> str:
        return next(
            message.new_session.initialize.session_id for message in sent if message.WhichOneof("type") == "new_session"
        )

    with started.socket() as stream:
        mine = session_of(run(stream, "status"))
    for _ in range(140):
        with started.socket():
            pass
    with started.socket(mine) as stream:
        assert session_of(run(stream, "status")) == mine


def test_it_ends_while_visitors_are_connected(started: Started) -> None:
    """It takes leave of each, and waits for nobody's answer. The last test: nothing answers afterwards."""
    with started.socket() as stream, raw_visitor.connected(started.host) as silent:
        run(stream, "attention", text="Still here.")
        started.process.send_signal(signal.SIGTERM)
        assert started.process.wait(PATIENCE) == -signal.SIGTERM
        with pytest.raises(ConnectionClosed) as closed:
            deque(stream)
        assert closed.value.rcvd
        assert closed.value.rcvd.code == RESTART
        assert silent.makefile("rb").read().endswith(RESTART.to_bytes(2))
    assert "Traceback" not in started.log.read_text("utf-8")
