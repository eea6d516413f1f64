"""Answers that leave at once: without it every action waits some 40 ms for nothing."""

from __future__ import annotations

import logging
import socket

import psutil

_log = logging.getLogger(__name__)


def nodelay() -> None:
    """Switch Nagle's algorithm off for the server's socket, those it has accepted and those it will accept.

    asyncio does that for sockets made with the number of the protocol, ``IPPROTO_TCP``; Streamlit 1.67 makes its
    socket without, so that the second of two messages waits until the browser has acknowledged the first, which
    browsers do after 40 ms. Accepted sockets inherit the option. Where the system does not say which sockets are the
    process's, they stay as they are.
    """
    try:
        connections = psutil.Process().net_connections("tcp")
    except psutil.Error as error:
        _log.info("The server's sockets cannot be found, answers may be delayed: %s", error)
        return
    listening = {connection.laddr for connection in connections if connection.status == psutil.CONN_LISTEN}
    ports = {address.port for address in listening}
    for connection in connections:
        if connection.fd < 0 or connection.laddr.port not in ports:
            continue
        try:
            with socket.fromfd(connection.fd, connection.family, connection.type) as copy:
                copy.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # closed in the meantime
            continue
