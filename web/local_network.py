"""The address of this computer in its local network, for those who are not sitting before it."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from streamlit import config

_ELSEWHERE = ("192.0.2.1", 9)  # kept for documentation by RFC 5737; to connect a datagram's socket sends nothing


def network_address() -> str | None:
    """The address that others in the network reach this computer by; None where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    return None if is_loopback(address) else address


def is_loopback(host: str) -> bool:
    """Whether this name or address leads from every computer to itself."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def listens_to_others() -> bool:
    """Whether the server takes connections from the network, as far as it was told by its options."""
    return not is_loopback(str(config.get_option("server.address") or "0.0.0.0"))
