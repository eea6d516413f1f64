"""What a program that is no browser may try at the server as strangers meet it: really started, and hosted."""

import json
import re
import socket
import struct
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import in_a_loop
import psutil
import pytest
import raw_visitor
from patience import PATIENCE
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from benchmarks.messages import measure
from benchmarks.positions import PageView
from benchmarks.server import app
from benchmarks.streamlit_client import Answer, visiting

pytestmark = pytest.mark.slow  # an app of its own is started

LIMIT = 5_000_000
UNSUPPORTED_DATA = 1003
NAN = float("nan")


@dataclass(frozen=True)
class Served:
    url: str
    process: psutil.Process
    log: Path

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        return raw_visitor.get(self.host, path, **headers)

    def opens(self, page: str = "attention") -> Answer:
        async def visit() -> Answer:
            async with visiting(self.url) as visitor:
                return await visitor.open(page, {"text": "Others go on."})

        answer = in_a_loop.run(visit())
        assert list(answer.errors()) == []
        return answer

    def errors(self) -> list[str]:
        """What the log holds of errors."""
        lines = [json.loads(line) for line in self.log.read_text("utf-8").splitlines() if line.startswith("{")]
        return [line["message"] for line in lines if line["level"] == "ERROR"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    log = tmp_path_factory.mktemp("hosted") / "log"
    settings = {"INSIDE_BERT_HOSTED": "1", "INSIDE_BERT_LOG_FORMAT": "json", "OMP_NUM_THREADS": "1"}
    with app("app.py", environment=settings, log=log) as (url, process):
        yield Served(url, psutil.Process(process.pid), log)


def begun_frame(served: Served, size: int) -> socket.socket:
    """A websocket of its own, on which a binary frame of so many bytes has been begun."""
    stream = raw_visitor.connected(served.host)
    stream.sendall(b"\x82\xff" + struct.pack(">Q", size) + bytes(4))
    return stream


def test_eight_frames_of_190_megabytes_are_not_read(served: Served) -> None:
    served.opens()
    before = served.process.memory_info().rss
    n_sent, streams = 0, [begun_frame(served, 190_000_000) for _ in range(8)]
    for stream in streams:
        try:
            for _ in range(24):
                stream.sendall(bytes(1_000_000))
                n_sent += 1_000_000
        except OSError:  # hung up on
            continue
    served.opens()
    assert served.process.memory_info().rss - before < 60_000_000
    assert n_sent < 8 * 24_000_000
    for stream in streams:
        stream.close()


def test_a_frame_that_the_largest_page_sends_is_read(served: Served) -> None:
    with begun_frame(served, LIMIT - 10) as stream:
        stream.sendall(bytes(LIMIT - 10))  # zeros are no message, for which the connection is ended in its turn
        while stream.recv(65_536):
            pass
    served.opens()


@pytest.mark.parametrize(
    "page_view",
    [PageView("compare", "attention"), PageView("attention", "grid"), PageView("cause", "patching")],
    ids=str,
)
def test_the_largest_pages_are_within_the_limit(served: Served, page_view: PageView) -> None:
    """All of them: ``python -m benchmarks.messages``."""
    size, _, back = in_a_loop.run(measure(served.url, page_view))
    assert (size < LIMIT - 1_060_000, back < LIMIT) == (True, True)  # Compare may draw one heatmap more


def test_no_other_page_of_this_machine_may_use_a_visitors_browser(served: Served) -> None:
    def connects(origin: str) -> None:
        protocol, page = Subprotocol("streamlit"), Origin(origin)
        address = f"ws://{served.host}/_stcore/stream"
        with connect(address, subprotocols=[protocol], origin=page, open_timeout=PATIENCE):
            pass

    connects(served.url)
    for origin in ("http://127.0.0.1:9999", "http://localhost:9999", "https://evil.example.org"):
        with pytest.raises(InvalidStatus, match="403"):
            connects(origin)


def test_streamlits_own_figures_are_not_shown(served: Served) -> None:
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/_stcore/metrics?families=cache_memory_bytes"):
        status, headers, body = served.get(path)
        assert (status, b"cache_memory" in body) in ((404, False), (301, False)), path
        assert headers.get("location", "").rstrip("/") in ("", "/_stcore/metrics")
    assert served.get("/_stcore/health")[0] == 200
    assert served.get("/metrics")[0] == 200


def odd_states(widget: str) -> Iterator[WidgetState]:
    yield WidgetState(id=widget, double_value=NAN)
    array = WidgetState(id=widget)
    array.double_array_value.data.extend([NAN, NAN])
    yield array
    yield WidgetState(id=widget, string_value="nonsense\0")
    yield WidgetState(id=widget, int_value=-(2**62))
    yield WidgetState(id=widget, json_value="{")
    yield WidgetState(id=widget, json_value='[1e999, [], null, {"head": NaN}]')
    yield WidgetState(id=widget, json_trigger_value='[{"event": null}]')
    yield WidgetState(id=widget, bytes_value=b"\xff")


@pytest.mark.parametrize(
    "page_view",
    [PageView("attention", "combined"), PageView("masked_words", "predictions"), PageView("compare", "attention")],
    ids=str,
)
def test_nonsense_in_every_widget_is_no_error_of_the_app(served: Served, page_view: PageView) -> None:
    """And the visit goes on after it."""

    async def attack() -> None:
        async with visiting(served.url) as visitor:
            drawn = await visitor.open(page_view.page, {"view": page_view.view})
            widgets = {
                getattr(element, element.WhichOneof("type")).id: element.WhichOneof("type")
                for element in drawn.elements()
                if getattr(getattr(element, element.WhichOneof("type")), "id", "")
            }
            assert len(widgets) > 10
            for state in (WidgetState(id=""), WidgetState(id="x", double_value=NAN), WidgetState(id="$$ID-a-None")):
                assert list((await visitor.set(state)).errors()) == []
            for widget in widgets:
                answer = await visitor.set(*odd_states(widget))
                assert list(answer.errors()) == [], widgets[widget]
            for n in range(8):  # one state after the other, of all widgets at once
                answer = await visitor.set(*[list(odd_states(widget))[n] for widget in widgets])
                assert list(answer.errors()) == [], n

    before = served.errors()
    in_a_loop.run(attack())
    assert served.errors() == before


def lines(answer: Answer) -> list[str]:
    return [element.markdown.body for element in answer.elements() if element.WhichOneof("type") == "markdown"]


def room_of(answer: Answer) -> str:
    """The code of the room that is led."""
    (code,) = (match[1] for line in lines(answer) if (match := re.fullmatch(r"\*\*([A-Z2-9]{5})\*\*", line)))
    return code


def test_one_connection_has_one_answer_and_one_room(served: Served) -> None:
    """Whatever it calls itself, and however often it presses a button that is gone."""

    async def attack() -> None:
        async with visiting(served.url) as teacher, visiting(served.url) as student:
            start = (await teacher.open("learn", {"lesson": "pieces"})).button("Start a room")
            assert start is not None
            code = room_of(await teacher.press(start))
            drawn = await student.open("learn", {"room": code})
            (teller,) = (
                element.bidi_component.id
                for element in drawn.elements()
                if element.WhichOneof("type") == "bidi_component" and element.bidi_component.component_name == "room"
            )
            (option,) = (
                element.button.id
                for element in drawn.elements()
                if element.WhichOneof("type") == "button" and element.button.id.endswith("option 1")
            )
            vote = WidgetState(id=option, trigger_value=True)
            for number in range(4):
                name = json.dumps([{"event": "kept", "value": {"visitor": f"{number:016x}", "serial": number + 1}}])
                await student.set(vote, WidgetState(id=_make_trigger_id(teller, "events"), json_trigger_value=name))
            seen = await student.set(vote)
            assert any("1 answer so far" in line for line in lines(seen))
            await teacher.press(start)
            assert room_of(await teacher.set()) == code

    in_a_loop.run(attack())


def test_a_forged_host_changes_nothing(served: Served) -> None:
    for host in ("evil.example.org", "evil; script-src *", "a\tb", "x" * 5_000, "[::1", "127.0.0.1:99999"):
        status, headers, body = served.get("/attention", Host=host)
        assert status in (200, 400)
        assert "location" not in headers
        assert "script-src *" not in headers.get("content-security-policy", "")
        assert host.encode() not in body
    served.opens()


def test_media_files_cannot_be_guessed(served: Served) -> None:
    for name in ("0" * 64, "../app.py", "..%2f..%2fetc/passwd", "%00", "a" * 5_000, ""):
        assert served.get(f"/media/{name}", Range="bytes=0-10")[0] in (307, 400, 404)


def test_text_on_the_websocket_closes_it(served: Served) -> None:
    """Streamlit's protocol is binary."""
    with connect(
        f"ws://{served.host}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        origin=Origin(served.url),
        open_timeout=PATIENCE,
    ) as stream:
        stream.send("text")
        with pytest.raises(ConnectionClosed) as closed:
            deque(stream)
    assert closed.value.rcvd
    assert closed.value.rcvd.code == UNSUPPORTED_DATA
    served.opens()


def test_where_nobody_signs_in_there_is_nothing_to_do_so(served: Served) -> None:
    for address in ("auth/login", "auth/logout", "oauth2callback?state=x&code=y&error=z"):
        assert served.get(f"/{address}")[0] == 404


def test_the_log_holds_no_error(served: Served) -> None:
    """The last test."""
    assert served.errors() == []
    assert "Traceback" not in served.log.read_text("utf-8")
