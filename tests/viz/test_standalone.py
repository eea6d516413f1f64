"""A component taken out of the app: one file, no network, the same numbers, tokens stay text."""

from __future__ import annotations

import base64
import json
from html.parser import HTMLParser

import numpy as np
import pytest

from viz import lines
from viz.standalone import standalone_html

HOSTILE = "</script><img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """The elements of a page, and the texts of those that have any, as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.setdefault(self.open[-1], []).append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture(scope="module")
def weights() -> np.ndarray:
    return np.random.default_rng(2).random((2, 3, 3), dtype=np.float32)


@pytest.fixture(scope="module")
def html(weights: np.ndarray) -> str:
    tokens = ["[CLS]", HOSTILE, "<!--"]
    view = lines.payload(
        weights, tokens, tokens, head_names=["1", "2"], colours=["red", "blue"], dark_colours=["pink", "cyan"]
    )
    return standalone_html(
        lines.SOURCE,
        view,
        title=f"Heads of {HOSTILE}",
        caption="A < B & C",
        meta={"Model": "embedded/bert", "Revision": "<b>1</b>", "Filter": ""},
    )


def test_numbers_are_those_of_the_screen(html: str, weights: np.ndarray) -> None:
    data, file = (text for text in Page(html).texts["script"] if text.startswith("{"))
    assert json.loads(file)["mm"] == 175
    view = json.loads(data)
    assert view["queries"] == ["[CLS]", HOSTILE, "<!--"]
    bytes_ = base64.b64decode(view["weights"]["base64"])
    back = np.frombuffer(bytes_, dtype=np.uint8).reshape(2, 3, 3) * (view["scale"] / 255)
    assert np.abs(back - weights).max() <= weights.max() / 510 * (1 + 1e-5)


def test_no_token_becomes_markup(html: str) -> None:
    page = Page(html)
    assert page.count("img") == 0
    assert page.count("b") == 0
    assert page.count("script") == 3
    assert page.texts["h1"] == page.texts["title"] == [f"Heads of {HOSTILE}"]


def test_says_where_the_numbers_come_from(html: str) -> None:
    texts = Page(html).texts
    assert "A < B & C" in texts["p"]
    assert dict(zip(texts["dt"], texts["dd"], strict=True)) == {
        "Model": "embedded/bert",
        "Revision": "<b>1</b>",
    }


def test_asks_nobody_for_anything(html: str) -> None:
    assert "http://" not in html
    assert "https://" not in html
    (policy,) = (
        attributes["content"]
        for tag, attributes in Page(html).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.split("; ")[0] == "default-src 'none'"
    assert "connect-src" not in policy
    assert all("src" not in attributes for tag, attributes in Page(html).elements if tag == "script")


def test_refuses_what_a_browser_could_not_read() -> None:
    with pytest.raises(TypeError, match="ndarray"):
        standalone_html(lines.SOURCE, {"weights": np.ones(2)}, title="", caption="", meta={})
