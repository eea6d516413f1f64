"""The proxy that loses connections: it forwards, cuts what is open, refuses for a while, and forwards again."""

import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE

from benchmarks.cutting_proxy import CuttingProxy, proxies


@pytest.fixture
def echo() -> Iterator[str]:
    """A server that sends back what it is sent."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer(caller: socket.socket) -> None:
            try:
                while data := caller.recv(1000):
                    caller.sendall(data)
            except OSError:
                pass
            finally:
                caller.close()

        def serve() -> None:
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(caller,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield "http://{}:{}".format(*server.getsockname())
        server.shutdown(socket.SHUT_RDWR)


def called(proxy: CuttingProxy) -> socket.socket:
    address = urlsplit(proxy.url)
    return socket.create_connection((address.hostname, address.port), PATIENCE)


def echoes(caller: socket.socket) -> bool:
    """Whether what is sent comes back."""
    try:
        caller.sendall(b"hello")
        return caller.recv(1000) == b"hello"
    except OSError:
        return False


def test_a_lost_network_cuts_what_is_open_and_refuses_until_it_is_found(echo: str) -> None:
    with proxies(echo, 2) as (proxy, other), called(proxy) as before, called(other) as beside:
        assert echoes(before)
        assert echoes(beside)
        proxy.lose()
        assert not echoes(before)
        assert echoes(beside)  # each loses its own connections alone
        with called(proxy) as meanwhile:
            assert not echoes(meanwhile)
        assert proxy.refused == 1
        proxy.find()
        with called(proxy) as again:
            assert echoes(again)
            again.shutdown(socket.SHUT_WR)
            assert again.recv(1000) == b""  # who says goodbye is heard
