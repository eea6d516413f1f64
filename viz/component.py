"""What the components that draw pictures share in Python: their files, and the form in which data reach them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FILES = Path(__file__).parent / "components"


def source(name: str, *scripts: str) -> dict[str, str]:
    """``html``, ``css`` and ``js`` of a component, named as ``st.components.v2.component`` names them.

    ``scripts`` are its own, in its folder; with the shared ones they become one module, because Streamlit mounts a
    single one, which can import no other.
    """

    def text(file: str) -> str:
        return (_FILES / file).read_text(encoding="utf-8")

    return {
        "html": text(f"{name}/{name}.html"),
        "css": text("shared/picture.css") + text(f"{name}/{name}.css"),
        "js": "\n".join([*(text(f"{name}/{script}") for script in scripts), text("shared/pens.js")]),
    }


def pack(payload: Mapping[str, Any]) -> bytes:
    """A payload as Streamlit's ``data``: length of the JSON (uint32, little endian), the JSON, the ``weights``.

    Streamlit carries bytes as they are only where they are the whole of ``data``; bytes inside a dictionary
    would silently turn it into its ``str()``.
    """
    header = json.dumps({name: value for name, value in payload.items() if name != "weights"}).encode()
    packed: bytes = len(header).to_bytes(4, "little") + header + payload["weights"]
    return packed
