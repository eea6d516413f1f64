"""``python -m benchmarks.messages``: the largest message of every page and view, beside what the server takes.

Starts the app and opens every view without a browser, with as long a text as it reads, and Compare with the bundled
models (a fourth one with attention adds 1.05 MB). One JSON line a view, in bytes: the largest message that its browser
gets, which element that is, and the largest that it can send back, which is every text of the page as long as it can be
typed. Ends with 1 where one is larger than ``server.maxMessageSize``.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict

from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.measure import emit
from benchmarks.positions import PageView, page_views
from benchmarks.server import ROOT, app
from benchmarks.streamlit_client import visiting

# More tokens than any page reads.
QUERY = {
    "text": "cat " * 700,
    "pair": "dogs " * 300,
    "models": "embedded/bert,embedded/tinybert,embedded/modernbert,embedded/bilstm",
}

# UTF-8 of one of JavaScript's characters at most, of which the browser counts the longest text that is typed.
_WIDEST = 3
_ENVELOPE = 50_000
"""Bytes that all widgets without a text of a page send together; a page was seen to send 3,000."""


def most_typed() -> int:
    """The characters of the longest text that the browser lets anybody type."""
    match = re.search(r"MOST_TYPED = ([\d_]+);", (ROOT / "ui/browser/browser.js").read_text("utf-8"))
    assert match
    return int(match[1])


def largest(messages: Sequence[bytes]) -> tuple[int, str]:
    """The bytes of the largest message, and what it draws."""
    message = max(messages, key=len)
    parsed = ForwardMsg.FromString(message)
    kind = parsed.WhichOneof("type") or ""
    if kind == "delta" and parsed.delta.WhichOneof("type") == "new_element":
        element = parsed.delta.new_element
        kind = element.WhichOneof("type") or ""
        if kind == "bidi_component":
            kind = element.bidi_component.component_name
    return len(message), kind


def most_sent_back(messages: Sequence[bytes]) -> int:
    """Bytes of the largest message that a browser with these elements can send."""
    parsed = [ForwardMsg.FromString(message) for message in messages]
    elements = (answer.delta.new_element for answer in parsed if answer.WhichOneof("type") == "delta")
    kinds = [element.WhichOneof("type") for element in elements]
    n_texts = sum(kind in ("text_area", "text_input") for kind in kinds)
    return n_texts * most_typed() * _WIDEST + _ENVELOPE


async def measure(url: str, page_view: PageView) -> tuple[int, str, int]:
    """Of a view of the app at ``url``: the largest message, what it draws, and the largest that comes back."""
    async with visiting(url) as visitor:
        answer = await visitor.open(page_view.route, QUERY | page_view.choice)
    return *largest(answer.messages), most_sent_back(answer.messages)


def main() -> int:
    limit = int(config.get_option("server.maxMessageSize") * 1e6)
    fit = True
    with app("app.py", environment={"STREAMLIT_SERVER_MAX_MESSAGE_SIZE": "200"}) as (url, _):
        for page_view in page_views():
            size, kind, back = asyncio.run(measure(url, page_view))
            fit = fit and max(size, back) <= limit
            emit(**asdict(page_view), message_bytes=size, draws=kind, most_sent_back_bytes=back, limit_bytes=limit)
    return 0 if fit else 1


if __name__ == "__main__":
    sys.exit(main())
