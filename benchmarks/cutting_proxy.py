"""A TCP proxy that can cut every connection at once and refuse new ones, as a network does that is lost for a while."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_CHUNK = 65536


class CuttingProxy:
    """Forwards what comes to ``url`` to the server at ``target`` (both ``http://host:port``); all that happens on an
    event loop of its own thread. Its methods are called from other threads, and wait until it is done.
    """

    def __init__(self, target: str, loop: asyncio.AbstractEventLoop) -> None:
        address = urlsplit(target)
        self._target = (address.hostname, address.port)
        self._loop = loop
        self._open: set[asyncio.WriteTransport] = set()
        self._lost = False
        self.url = ""
        self.refused = 0
        """How many connections it has not let through so far."""

    def lose(self) -> None:
        """Cut all connections, as a network does that is gone (a reset, no goodbye), and refuse new ones."""
        asyncio.run_coroutine_threadsafe(self._set(lost=True), self._loop).result()

    def find(self) -> None:
        """Let connections through again."""
        asyncio.run_coroutine_threadsafe(self._set(lost=False), self._loop).result()

    async def _set(self, *, lost: bool) -> None:
        self._lost = lost
        if lost:
            for transport in self._open:
                transport.abort()

    async def _start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self.url = "http://{}:{}".format(*server.sockets[0].getsockname())
        return server

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server_reader, server_writer = await asyncio.open_connection(*self._target)
        except OSError:  # the server is not there
            writer.transport.abort()
            return
        both = {writer.transport, server_writer.transport}
        try:
            if self._lost:
                self.refused += 1
                return
            self._open |= both
            await asyncio.gather(_pump(reader, server_writer), _pump(server_reader, writer))
        finally:
            self._open -= both
            for transport in both:
                transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on what comes until its sender has nothing more to say; then the receiver hears that."""
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof() and not writer.is_closing():
            writer.write_eof()


@contextmanager
def proxies(target: str, n: int = 1) -> Iterator[list[CuttingProxy]]:
    """``n`` proxies before one server, each with connections of its own to lose."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="cutting proxies", daemon=True)
    thread.start()

    async def start() -> tuple[list[CuttingProxy], list[asyncio.Server]]:
        made = [CuttingProxy(target, loop) for _ in range(n)]
        return made, [await proxy._start() for proxy in made]

    async def stop() -> None:
        for server in servers:
            server.close()
        for proxy in made:
            await proxy._set(lost=True)
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    made, servers = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield made
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
