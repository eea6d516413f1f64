"""Multiplications of a layer, by hand."""

from __future__ import annotations

import pytest

from analysis.operations import layer_operations, lstm_operations, outweighing


def test_a_small_layer_by_hand() -> None:
    assert layer_operations(3, 2, 5) == {"projections": 4 * 3 * 4, "pairs": 2 * 9 * 2, "feed-forward": 2 * 3 * 2 * 5}
    assert layer_operations(3, 2, 5, gated=True)["feed-forward"] == 3 * 3 * 2 * 5
    assert lstm_operations(3, 2) == 3 * 4 * (2 * 2 + 2 * 2)


def test_twice_the_text_is_four_times_the_pairs() -> None:
    once, twice = layer_operations(64, 128, 512), layer_operations(128, 128, 512)
    assert twice["pairs"] == 4 * once["pairs"]
    assert twice["projections"] == 2 * once["projections"]
    assert lstm_operations(128, 128) == 2 * lstm_operations(64, 128)


@pytest.mark.parametrize(("width", "inner", "gated"), [(768, 3072, False), (384, 1536, False), (768, 1152, True)])
def test_where_pairs_outweigh_the_rest(width: int, inner: int, gated: bool) -> None:
    n = outweighing(width, inner, gated=gated)
    for tokens, more in ((n, True), (n - 1, False)):
        parts = layer_operations(tokens, width, inner, gated=gated)
        assert (parts["pairs"] > parts["projections"] + parts["feed-forward"]) is more
