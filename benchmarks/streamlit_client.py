"""A visitor of a Streamlit app without a browser: asks for pages over a websocket and reads what is drawn."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

# The message that ends a run is far shorter; longer ones are not looked into while the clock runs.
_LONGEST_END = 2048
_ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


def ends(told: ForwardMsg) -> bool:
    """Whether this is the last message of a page: not of a run that ends early because another one takes its place, as
    the first that a server draws does (``ui.page``).
    """
    return told.WhichOneof("type") == "script_finished" and told.script_finished in _ENDS


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

    def complaints(self) -> Iterator[str]:
        """Errors and warnings on the page, tracebacks, and pages that were not found or not run."""
        for message in self.messages:
            told = ForwardMsg.FromString(message)
            kind = told.WhichOneof("type")
            if kind == "page_not_found":
                yield "page not found"
            elif kind == "session_event" and told.session_event.HasField("script_compilation_exception"):
                yield told.session_event.script_compilation_exception.message
            elif kind == "delta" and told.delta.WhichOneof("type") == "new_element":
                element = told.delta.new_element
                if element.WhichOneof("type") == "exception":
                    yield f"{element.exception.type}: {element.exception.message}"
                elif element.WhichOneof("type") == "alert" and element.alert.format in (Alert.ERROR, Alert.WARNING):
                    yield element.alert.body


class Visitor:
    """A session of the app; one question at a time."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def ask(self, page: str, query: Mapping[str, str]) -> None:
        """Ask for a page as a link to it does, and do not wait for the answer."""
        asked = BackMsg()
        asked.rerun_script.page_name = page
        asked.rerun_script.query_string = urlencode(query)
        await self._socket.send(asked.SerializeToString())

    async def open(self, page: str, query: Mapping[str, str]) -> Answer:
        """Ask for a page and wait until it is drawn. Raises ConnectionError where the app hangs up."""
        begun = time.perf_counter()
        messages: list[bytes] = []
        try:
            await self.ask(page, query)
            while True:
                message = await self._socket.recv(decode=False)
                messages.append(message)
                if len(message) <= _LONGEST_END and ends(ForwardMsg.FromString(message)):
                    return Answer(time.perf_counter() - begun, messages)
        except ConnectionClosed as error:
            raise ConnectionError(f"The app closed the connection: {error}") from error


@asynccontextmanager
async def visiting(url: str) -> AsyncIterator[Visitor]:
    """A new visitor of the app at ``http://...``, who leaves at the end of the block."""
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    # Streamlit takes the protocol, a token and a session's id; a new visitor has neither of the last two. No pings of
    # the client's own: an app that is stopped for a while must not lose its visitors by that.
    async with connect(
        address,
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
        compression=None,
        ping_interval=None,
        proxy=None,
        open_timeout=60,
        close_timeout=2,
    ) as socket:
        yield Visitor(socket)
