"""What the heatmap sends: exact weights, the scale and its marks, every token as it was typed."""

import numpy as np
import pytest
from on_screen import unpacked

from model_zoo.types import FloatArray
from viz import component
from viz.heatmap import Payload, heatmap
from viz.palette import sequential

TWO: FloatArray = np.array([[0.25, 0.75], [0.98, 0.02]], dtype=np.float32)


def sent(picture: Payload) -> FloatArray:
    """The numbers as the browser gets them, (numbers, queries, keys)."""
    _, weights = unpacked(component.pack(picture))
    shape = len(picture["numbers"]), len(picture["queries"]), len(picture["keys"])
    return np.frombuffer(weights, dtype="<f4").reshape(shape)


def test_the_exact_weights_are_sent() -> None:
    np.testing.assert_array_equal(sent(heatmap(TWO, ["a", "b"], ["a", "b"])), TWO[None])
    np.testing.assert_array_equal(sent(heatmap(TWO.T, ["a", "b"], ["a", "b"]))[0], TWO.T)
    n = 128
    packed = component.pack(heatmap(np.full((n, n), 1 / n, np.float32), ["token"] * n, ["token"] * n))
    assert len(packed) < n * n * 4 + 20 * n + 2_000
    tokens = ["<script>", "&lt;", "%{x}", "שלום", "Ġthe", "a\u200db", "x" * 50]
    header, _ = unpacked(component.pack(heatmap(np.eye(7, dtype=np.float32), tokens, tokens)))
    assert header["queries"] == header["keys"] == tokens
    unseen = ["\ud800", "\x00", " ", "\uffff"]
    header, _ = unpacked(component.pack(heatmap(np.eye(4, dtype=np.float32), unseen, unseen)))
    assert header["keys"] == ["⟨U+D800⟩", "⟨U+0000⟩", "␣", "⟨U+FFFF⟩"]


def test_one_scale_for_every_head_in_both_themes() -> None:
    for weights in (TWO, TWO / 10):
        picture = heatmap(weights, ["a", "b"], ["a", "b"])
        assert picture["limits"] == (0, 1)
        assert picture["bend"] == "root"
        assert picture["scale"] == [colour for _, colour in sequential(dark=False)]
        assert picture["dark_scale"] == [colour for _, colour in sequential(dark=True)]
    # Stretch ends the scale at the largest weight.
    picture = heatmap(TWO / 2, ["a", "b"], ["a", "b"], stretch=True)
    assert picture["limits"] == (0, pytest.approx(0.49))
    for place, name in picture["marks"]:
        assert place == pytest.approx(np.sqrt(float(name) / 0.49), abs=1e-3)
    assert picture["marks"][-1][1] == "0.49"
    assert heatmap(np.zeros((2, 2), np.float32), ["a", "b"], ["a", "b"], stretch=True)["limits"] == (0, 1)
    # The colour bar names weights at the place of their root and says so.
    picture = heatmap(TWO, ["a", "b"], ["a", "b"], quantity="share of attention")
    marks = {float(name): place for place, name in picture["marks"]}
    assert (marks[0], marks[0.2], marks[1]) == (0, pytest.approx(np.sqrt(0.2)), 1)
    assert min(np.diff(sorted(marks.values()))) * 180 > 22  # px: two labels beside each other
    assert picture["title"] == "share of attention (square-root scale)"


def test_segments_are_those_of_every_token_or_of_none_and_special_ones_have_places() -> None:
    weights = np.full((2, 2), 0.5, dtype=np.float32)
    made = heatmap(weights, ["a", "b"], ["c", "d"], query_segments=[0, 1], key_segments=[0, 0], height=440, group="g")
    assert (made["query_segments"], made["key_segments"]) == ([0, 1], [0, 0])
    assert (made["height"], made["group"]) == (440, "g")
    special = heatmap(weights, ["a", "[SEP]"], ["[CLS]", "d"], special_queries=[1], special_keys=[0], number="norm")
    assert (special["special_queries"], special["special_keys"]) == ([1], [0])
    assert special["numbers"] == [{"name": "norm", "signed": False}]
    with pytest.raises(ValueError, match="every token or for none"):
        heatmap(weights, ["a", "b"], ["c", "d"], query_segments=[0])
    for shape in ((1, 2), (2, 1), (2, 3)):
        with pytest.raises(ValueError, match="do not fit 2 queries and 2 keys"):
            heatmap(np.zeros(shape, np.float32), ["a", "b"], ["a", "b"])
