"""BertViz's document: the numbers BertViz's own Python writes, bounded, and closed to tokens and network."""

import base64
import hashlib
import json
import re
from typing import Any

import bertviz
import builders
import numpy as np
import pytest
import torch

from model_zoo.errors import InvalidInput, NotSupported
from viz.bertviz_offline import MAX_LINES, bertviz_html, max_tokens

TOKENS = ["[CLS]", "the", "Ġcat", "[SEP]", "▁sat", "[SEP]"]
VIEWS = ("head", "model")


def maps(layers: int = 2, heads: int = 3, n: int = 6) -> list[np.ndarray]:
    weights = np.random.default_rng(0).dirichlet(np.ones(n), size=(layers, heads, n))
    return list((np.rint(weights * 65535) / 65535).astype(np.float32))


def data_of(html: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="bertviz-data">(.*?)</script>', html, re.DOTALL)
    data: dict[str, Any] = json.loads(text)
    return data


def attention_of(data: dict[str, Any]) -> np.ndarray:
    packed = np.frombuffer(base64.b64decode(data["attention"]["packed"]), dtype="<u2")
    layers, heads, n = data["attention"]["shape"]
    return packed.reshape(layers, heads, n, n) / 65535


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # BertViz leaves its script open
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("sentence_b_start", [None, 4])
def test_same_parameters_as_bertviz_itself(view: str, sentence_b_start: int | None) -> None:
    layers = maps()
    ours = data_of(bertviz_html(view, layers, TOKENS, sentence_b_start=sentence_b_start))
    draw = bertviz.head_view if view == "head" else bertviz.model_view
    maps_ = [torch.from_numpy(layer)[None] for layer in layers]
    html = draw(maps_, TOKENS, sentence_b_start=sentence_b_start, html_action="return").data
    theirs = json.loads(re.search(r"const params = (\{.*?\}); // HACK", html).group(1))

    attention = attention_of(ours)
    assert len(ours["filters"]) == len(theirs["attention"]) == (1 if sentence_b_start is None else 5)
    for mine, original in zip(ours["filters"], theirs["attention"], strict=True):
        rows, columns = slice(*mine["left"]), slice(*mine["right"])
        assert mine["name"] == original["name"]
        assert ours["tokens"][rows] == original["left_text"]
        assert ours["tokens"][columns] == original["right_text"]
        assert attention[:, :, rows, columns] == pytest.approx(np.array(original["attn"]), abs=1e-7)
    # Every other parameter its script may read is there; layers and heads are numbered from 1.
    assert theirs.keys() <= ours.keys()
    for name in ("include_layers", "include_heads"):
        if name in theirs:
            assert ours[name] == [number + 1 for number in theirs[name]]
    assert ours["default_filter"] == theirs["default_filter"]


def test_weights_are_exact_to_a_65535th() -> None:
    weights = builders.random_maps(1, 2, 4, 9, 9)
    attention = attention_of(data_of(bertviz_html("head", list(weights), list("abcdefghi"))))
    assert np.abs(attention - weights).max() <= 0.5 / 65535 + 1e-7
    # Value-weighted attention: packed as it is, 4.8 would come out as 0.8.
    weights = np.array([[[[4.8, 1.2], [0.6, 2.4]]]], dtype=np.float32)
    attention = attention_of(data_of(bertviz_html("head", list(weights), ["a", "b"])))
    np.testing.assert_allclose(attention[0, 0], [[1, 0.25], [0.125, 0.5]], atol=1e-5)
    data = data_of(bertviz_html("model", [np.ones((1, 1, 1), np.float32)], ["a"]))
    assert attention_of(data).tolist() == [[[[1.0]]]]
    # Long tokens are cut visibly.
    tokens = ["uncharacteristically", "a" * 13, *"bcde"]
    assert data_of(bertviz_html("head", maps(), tokens))["tokens"][:2] == ["uncharacteri…", "a" * 13]
    assert data_of(bertviz_html("model", maps(), tokens))["tokens"][0] == "uncharacte…"


@pytest.mark.parametrize("view", VIEWS)
def test_only_what_is_in_the_document_may_run(view: str) -> None:
    html = bertviz_html(view, maps(), TOKENS)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy
    for block in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", html, re.DOTALL):
        assert base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() in policy
    assert not re.search(r"<[^>]*\s(?:src|href|on\w+)=", html)


@pytest.mark.parametrize("view", VIEWS)
def test_a_token_cannot_leave_the_data(view: str) -> None:
    hostile = ["</script>", "<!--", "$data", "\u2028", "<img src=x>", '"']
    html = bertviz_html(view, maps(), hostile)
    assert html.count("</script>") == 4  # the data, and three scripts
    assert "<img" not in html
    assert data_of(html)["tokens"] == hostile


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 12), (6, 12), (24, 16)])
def test_the_bound_follows_the_number_of_lines(view: str, layers: int, heads: int) -> None:
    limit = max_tokens(view, layers, heads)
    drawn = heads if view == "head" else layers * heads
    assert drawn * limit**2 <= MAX_LINES < drawn * (limit + 1) ** 2
    assert (max_tokens("head", 12, 12), max_tokens("model", 12, 12), max_tokens("model", 6, 12)) == (128, 36, 52)


@pytest.mark.parametrize(("view", "instead"), [("head", "“Lines” of this page"), ("model", "“All heads” of this page")])
def test_beyond_the_bound_it_points_elsewhere(view: str, instead: str) -> None:
    n = max_tokens(view, 2, 12) + 1
    layers = [np.broadcast_to(np.float32(1 / n), (12, n, n))] * 2
    with pytest.raises(NotSupported, match=f"can show at most {n - 1} tokens.*has {n}.*{instead}"):
        bertviz_html(view, layers, ["a"] * n)
    assert bertviz_html(view, [layer[:, 1:, 1:] for layer in layers], ["a"] * (n - 1))


def test_what_does_not_fit_is_refused() -> None:
    for layers, tokens in ((maps(), TOKENS[:-1]), ([maps()[0], maps(heads=2)[0]], TOKENS), ([], TOKENS)):
        with pytest.raises(InvalidInput, match="same shape"):
            bertviz_html("head", layers, tokens)
    for wrong, message in (
        ({"heads": []}, "at least one head"),
        ({"heads": [3]}, "3 heads, 0 to 2"),
        ({"layer": 2}, "2 layers, 0 to 1"),
        *(({"sentence_b_start": start}, "second sentence") for start in (0, 6, 7)),
    ):
        with pytest.raises(InvalidInput, match=message):
            bertviz_html("head", maps(), TOKENS, **wrong)
