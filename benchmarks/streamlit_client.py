"""A visitor of a Streamlit app without a browser, who opens pages, presses buttons and uploads files."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

import requests
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

# The message that ends a run is far shorter; longer ones are not looked into while the clock runs.
_LONGEST_END = 2048
_TOKEN = "_streamlit_xsrf"
_ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


def ends(message: ForwardMsg) -> bool:
    """Whether this is the last message of a page: not of a run that ends early because another one takes its place, as
    the first that a server draws does (``ui.page``).
    """
    return message.WhichOneof("type") == "script_finished" and message.script_finished in _ENDS


@dataclass(frozen=True, slots=True)
class Answer:
    """What one run of a page sent, and the ``seconds`` from asking to its end."""

    seconds: float
    messages: Sequence[bytes]

    @property
    def n_bytes(self) -> int:
        return sum(map(len, self.messages))

    def holds(self, *words: str) -> bool:
        """Whether each of the words stands somewhere in it."""
        return all(any(word.encode() in message for message in self.messages) for word in words)

    def elements(self) -> Iterator[Element]:
        """What was drawn, piece by piece."""
        for message in self.messages:
            parsed = ForwardMsg.FromString(message)
            if parsed.WhichOneof("type") == "delta" and parsed.delta.WhichOneof("type") == "new_element":
                yield parsed.delta.new_element

    def button(self, label: str) -> str | None:
        """The id of the last button that was drawn with such a label (a pattern for all of it) and can be pressed."""
        buttons = (button.button for button in self.elements() if button.WhichOneof("type") == "button")
        ids = [button.id for button in buttons if not button.disabled and re.fullmatch(label, button.label)]
        return ids[-1] if ids else None

    def uploader(self) -> str | None:
        """The id of the first control for files that was drawn."""
        ids = (element.file_uploader.id for element in self.elements() if element.WhichOneof("type") == "file_uploader")
        return next(ids, None)

    def errors(self) -> Iterator[str]:
        """Errors on the page, tracebacks, and pages that were not found or not run."""
        for message in self.messages:
            parsed = ForwardMsg.FromString(message)
            kind = parsed.WhichOneof("type")
            if kind == "page_not_found":
                yield "page not found"
            elif kind == "session_event" and parsed.session_event.HasField("script_compilation_exception"):
                yield parsed.session_event.script_compilation_exception.message
        for element in self.elements():
            if element.WhichOneof("type") == "exception":
                yield f"{element.exception.type}: {element.exception.message}"
        yield from self._alerts(Alert.ERROR)

    def complaints(self) -> Iterator[str]:
        """Errors, and warnings on the page."""
        yield from self.errors()
        yield from self._alerts(Alert.WARNING)

    def _alerts(self, format_: Alert.Format.ValueType) -> Iterator[str]:
        for element in self.elements():
            if element.WhichOneof("type") == "alert" and element.alert.format == format_:
                yield element.alert.body


class Visitor:
    """A session of the app; one question at a time. ``session`` is its id, which brings a visitor back to it whose
    connection was lost; empty before the first answer. What is not drawn within ``patience`` seconds, where there is a
    limit, ends in a TimeoutError.
    """

    def __init__(self, socket: ClientConnection, url: str, patience: float | None = None) -> None:
        self._socket, self._url, self._patience = socket, url, patience
        self._page = self._query = ""
        self.session = ""

    async def send(self, request: BackMsg | bytes) -> None:
        """Send a message, or what is none, without waiting. Raises ConnectionError where the app has hung up."""
        try:
            await self._socket.send(request.SerializeToString() if isinstance(request, BackMsg) else request)
        except ConnectionClosed as error:
            raise ConnectionError(f"The app closed the connection: {error}") from error

    async def ask(self, page: str, query: Mapping[str, str]) -> None:
        """Ask for a page as a link to it does, and do not wait for the answer."""
        self._query = urlencode(query)
        request = BackMsg()
        request.rerun_script.page_name = page
        request.rerun_script.query_string = self._query
        await self.send(request)

    async def open(self, page: str, query: Mapping[str, str]) -> Answer:
        """Ask for a page and wait until it is drawn. Raises ConnectionError where the app hangs up."""
        begun = time.perf_counter()
        await self.ask(page, query)
        return await self._drawn(begun)

    async def drawn(self) -> Answer:
        """Wait until a page is drawn that was asked for before."""
        return await self._drawn(time.perf_counter())

    async def set(self, *states: WidgetState) -> Answer:
        """Set widgets, as a click or a key does, and wait until the page is drawn; without any, draw it again. Raises
        ConnectionError where the app hangs up.
        """
        begun = time.perf_counter()
        request = BackMsg()
        request.rerun_script.page_script_hash = self._page
        request.rerun_script.query_string = self._query
        request.rerun_script.widget_states.widgets.extend(states)
        await self.send(request)
        return await self._drawn(begun)

    async def press(self, button: str) -> Answer:
        """Press the button with this id, and wait until the page is drawn."""
        return await self.set(WidgetState(id=button, trigger_value=True))

    async def upload(self, uploader: str, name: str, data: bytes) -> Answer:
        """Upload a file to the control with this id and wait for the page. Raises OSError where it is not taken."""
        request = BackMsg()
        request.file_urls_request.request_id = name
        request.file_urls_request.file_names.append(name)
        request.file_urls_request.session_id = self.session
        await self.send(request)
        while True:
            parsed = ForwardMsg.FromString(await self._receive())
            if parsed.WhichOneof("type") == "file_urls_response":
                break
        urls = parsed.file_urls_response.file_urls[0]
        await asyncio.to_thread(put, self._url, urls.upload_url, name, data)
        state = WidgetState(id=uploader)
        info = state.file_uploader_state_value.uploaded_file_info.add(name=name, size=len(data), file_id=urls.file_id)
        info.file_urls.CopyFrom(urls)
        return await self.set(state)

    async def closed(self) -> None:
        """Wait until the app has hung up."""
        await self._socket.wait_closed()

    async def _receive(self) -> bytes:
        try:
            return await self._socket.recv(decode=False)
        except ConnectionClosed as error:
            raise ConnectionError(f"The app closed the connection: {error}") from error

    async def _drawn(self, begun: float) -> Answer:
        messages: list[bytes] = []
        async with asyncio.timeout(self._patience):
            while True:
                message = await self._receive()
                messages.append(message)
                if len(message) <= _LONGEST_END and ends(parsed := ForwardMsg.FromString(message)):
                    # What a run that began before this question still had to say can come first: a connection that was
                    # lost in the midst of it, a message that nobody waited for.
                    run = parsed.metadata.run.script_run_id.encode()
                    if not any(run in before for before in messages[:-1]):
                        messages.clear()
                        continue
                    answer = Answer(time.perf_counter() - begun, messages)
                    break
        for parsed in map(ForwardMsg.FromString, messages):
            kind = parsed.WhichOneof("type")
            if kind == "new_session":
                self.session = parsed.new_session.initialize.session_id
            elif kind == "navigation":
                self._page = parsed.navigation.page_script_hash
            elif kind == "page_info_changed":
                self._query = parsed.page_info_changed.query_string
        return answer


def put(url: str, path: str, name: str, data: bytes) -> None:
    """Upload a file as a browser does, with the token that the app gives every browser against forged requests. Raises
    OSError where the app does not take it.
    """
    with requests.Session() as session:
        session.trust_env = False  # no proxy stands between
        session.get(f"{url}/_stcore/health", timeout=600)
        token = session.cookies.get(_TOKEN) or ""
        address = f"http://{urlsplit(url).netloc}{path}"
        answer = session.put(address, files={"file": (name, data)}, headers={"X-Xsrftoken": token}, timeout=600)
        if not answer.ok:
            raise OSError(f"The app did not take {name}: {answer.status_code} {answer.reason}")


@asynccontextmanager
async def visiting(url: str, session: str = "", patience: float | None = None) -> AsyncIterator[Visitor]:
    """A new visitor of the app at ``http://...``, who leaves at the end of the block; with ``session``, one who comes
    back to it. How long he waits for a page: see ``Visitor``.
    """
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    # Streamlit takes the protocol, a token and a session's id; a new visitor has neither of the last two. No pings of
    # the client's own: an app that is stopped for a while must not lose its visitors by that.
    async with connect(
        address,
        subprotocols=[Subprotocol(name) for name in ("streamlit", *(["no-token", session] if session else []))],
        max_size=None,
        compression=None,
        ping_interval=None,
        proxy=None,
        open_timeout=600,
        close_timeout=2,
    ) as socket:
        yield Visitor(socket, url, patience)
