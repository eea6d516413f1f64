"""Attention of one token and between sentences on maps whose numbers are known."""

import builders
import numpy as np
import pytest

from analysis import focus
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun


def run(pair: bool = True) -> AttentionRun:
    """[CLS] a [SEP] b c [SEP]: head 0 looks at all alike; head 1 of layer 1 sends everything to b."""
    alone = {} if pair else {"text_pair": None, "segment_ids": (0,) * 6}
    even = np.full((6, 6), 1 / 6, dtype=np.float32)
    to_b = np.zeros((6, 6), dtype=np.float32)
    to_b[:, 3] = 1
    encoding = builders.encoding(["a"], ["b", "c"], **alone)
    return builders.run(encoding, np.stack([even, even]), np.stack([even, to_b]))


def test_from_token_is_its_row_in_every_head() -> None:
    weights = focus.attention_from_token(run(), 1)
    assert weights.shape == (2, 2, 6)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-6)
    np.testing.assert_array_equal(weights[1, 1], [0, 0, 0, 1, 0, 0])
    with pytest.raises(InvalidInput, match="There is no token 7"):
        focus.attention_from_token(run(), 6)
    looks = focus.strongest(focus.attention_from_token(run(), 1), run(), 1, n=2)
    assert looks[0] == focus.Look(1, 1, 3, 1.0)
    assert looks[1].weight == pytest.approx(1 / 6)
    assert len(focus.strongest(focus.attention_from_token(run(), 1), run(), 1, n=99)) == 2 * 4
    near = np.zeros((6, 6), dtype=np.float32)
    for query in range(6):
        near[query, max(0, query - 2)] = 1
    maps = np.stack([np.eye(6, dtype=np.float32), near]), np.full((2, 6, 6), 1 / 6, dtype=np.float32)
    assert focus.reach(builders.run(builders.encoding(["a"], ["b", "c"]), *maps)) == (2, 5)
    shares = focus.between_sentences(run())
    np.testing.assert_allclose(shares[0], [[2 / 6, 2 / 6], [2 / 6, 1]], atol=1e-6)
    np.testing.assert_allclose(shares[1], [[1 / 6, 1 / 6], [1 / 6, 0]], atol=1e-6)
    with pytest.raises(InvalidInput, match="needs two"):
        focus.between_sentences(run(pair=False))


def cross() -> AttentionRun:
    """Two tokens look at the six of ``run``."""
    complete = run()
    layers = (layer.weights(slice(None))[:, :2] for layer in complete.layers)
    written = builders.encoding(["x"], front="<pad>", end=None)
    return builders.run(written, *layers, stack="cross", source=complete.encoding)


def test_in_cross_attention_a_token_looks_at_another_text() -> None:
    weights = focus.attention_from_token(cross(), 1)
    assert weights.shape == (2, 2, 6)
    looks = focus.strongest(weights, cross(), 1, n=99)
    assert looks[0] == focus.Look(1, 1, 3, 1.0)
    # The three words there in four heads; the key at the query's own place counts like the others.
    assert len(looks) == 3 * 4
    assert {look.key for look in looks} == {1, 3, 4}
    with pytest.raises(InvalidInput, match="There is no token 3"):
        focus.attention_from_token(cross(), 2)
