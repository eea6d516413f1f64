"""A component taken out of the app: one file, no network, the same numbers, tokens stay text."""

import base64
import json

import numpy as np
import pytest
from pages_of_html import Page

from viz import lines
from viz.standalone import standalone_html

HOSTILE = "</script><img src=x onerror=alert(1)>"


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
    with pytest.raises(TypeError, match="ndarray"):
        standalone_html(lines.SOURCE, {"weights": np.ones(2)}, title="", caption="", meta={})


def test_no_token_becomes_markup(html: str) -> None:
    page = Page(html)
    assert [page.tags.count(tag) for tag in ("img", "b", "script")] == [0, 0, 3]
    assert page.texts["h1"] == page.texts["title"] == [f"Heads of {HOSTILE}"]
    texts = Page(html).texts
    assert "A < B & C" in texts["p"]
    assert (texts["dt"], texts["dd"]) == (["Model", "Revision"], ["embedded/bert", "<b>1</b>"])
    assert "http://" not in html
    assert "https://" not in html
    (policy,) = (
        attributes["content"]
        for tag, attributes in Page(html).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.split("; ")[0] == "default-src 'none'"
    assert "connect-src" not in policy
    assert all("src" not in attributes for tag, attributes in Page(html).elements if tag == "script")
