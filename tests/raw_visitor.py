"""A visitor's connection by hand: for what no library would send, or leave unanswered."""

import http.client
import socket

from patience import PATIENCE


def get(host: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers in small letters, body."""
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def connected(host: str) -> socket.socket:
    """A websocket of Streamlit's at 127.0.0.1:8501, say."""
    address, _, port = host.partition(":")
    stream = socket.create_connection((address, int(port)), PATIENCE)
    stream.sendall(
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: streamlit\r\n\r\n".encode()
    )
    assert stream.recv(64).startswith(b"HTTP/1.1 101")
    return stream
