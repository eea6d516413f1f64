"""What is looked at, by hand: weights, value-weighted norms, and what a layer takes as a whole."""

from __future__ import annotations

from dataclasses import replace

import builders
import numpy as np
import pytest

from analysis.filters import combine
from analysis.shown import Norms, Weights, all_maps, maps_of_layer
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun

# One layer, two heads, even attention; ‖f(x)‖ is 1, 2, 3 in head 0, three times that in head 1.
ROW = np.array([1, 2, 3]) / 3


def run() -> AttentionRun:
    layer = builders.even_layer(np.broadcast_to(np.arange(1, 4)[:, None], (2, 3, 1)))
    projection = np.array([[[1]], [[-3]]], dtype=np.float32)
    return builders.run(builders.anonymous(3), layer, output_projections=(projection,))


def test_weights_are_the_run_s() -> None:
    shown = Weights(run())
    np.testing.assert_array_equal(shown.map(0, 1), run().head(0, 1))
    np.testing.assert_array_equal(shown.layer(0), run().layer(0))
    assert (shown.n_layers, shown.measure, shown.shares, shown.of_block) == (1, "weights", True, False)


def test_norms_are_weights_times_lengths_of_values() -> None:
    shown = Norms(run())
    np.testing.assert_allclose(shown.map(0, 1), np.tile(3 * ROW, (3, 1)), rtol=1e-6)
    np.testing.assert_allclose(shown.layer(0), [np.tile(ROW, (3, 1)), np.tile(3 * ROW, (3, 1))], rtol=1e-6)
    np.testing.assert_allclose(combine(shown, all_maps(shown), "mean"), np.tile(2 * ROW, (3, 1)), rtol=1e-6)
    assert (shown.measure, shown.shares, shown.of_block) == ("norms", False, False)


def test_the_values_in_cross_attention_are_those_of_the_keys() -> None:
    layer = builders.even_layer(np.arange(1, 4)[None, :, None], n_queries=2)
    two, three = builders.anonymous(2), builders.anonymous(3)
    cross = builders.run(
        two, layer, output_projections=(np.array([[[2]]], dtype=np.float32),), stack="cross", source=three
    )
    np.testing.assert_allclose(Norms(cross).map(0, 0), np.tile(2 * ROW, (2, 1)), rtol=1e-6)
    np.testing.assert_allclose(Norms(cross).layer(0), np.tile(2 * ROW, (1, 2, 1)), rtol=1e-6)


def test_norms_where_there_are_no_values_are_refused() -> None:
    with pytest.raises(NotSupported):
        Norms(replace(run(), output_projections=(None,))).map(0, 0)


def test_maps_in_their_order_with_layers_of_different_width() -> None:
    shown = Weights(
        builders.run(builders.anonymous(2), builders.random_maps(0, 2, 2, 2), builders.random_maps(1, 1, 2, 2))
    )
    assert all_maps(shown) == [(0, 0), (0, 1), (1, 0)]
    assert maps_of_layer(shown, 0) == [(0, 0), (0, 1)]
    with pytest.raises(InvalidInput, match="does not exist"):
        shown.map(1, 1)
