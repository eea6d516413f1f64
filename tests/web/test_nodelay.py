"""Sockets that send at once."""

import socket
import sys

import pytest

from web.nodelay import nodelay


def sends_at_once(end: socket.socket) -> bool:
    return end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say which sockets a process has")
def test_every_connection_of_the_server_sends_at_once() -> None:
    """The server's socket is made as Streamlit makes it."""
    with socket.socket(socket.AF_INET) as server, socket.socket(socket.AF_INET) as other:
        for end in (server, other):
            end.bind(("127.0.0.1", 0))
        server.listen()
        with socket.create_connection(server.getsockname()) as browser, server.accept()[0] as early:
            assert not sends_at_once(early)
            nodelay()
            assert sends_at_once(early)
            with socket.create_connection(server.getsockname()), server.accept()[0] as late:
                assert sends_at_once(late)
            assert not sends_at_once(browser)  # nobody's business but the browser's
