"""Attention as weights, norms and rollout."""

from dataclasses import replace

import builders
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.alignment import align, all_on_common_words, shares_on_common_words
from analysis.filters import combine
from analysis.rollout import rollout
from analysis.views import ContributionView, Norms, Weights, all_maps, maps_of_layer, mean_of_all
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun, ContributionMeasure, FloatArray, LayerContributions

# One layer, two heads, even attention; ‖f(x)‖ is 1, 2, 3 in head 0, three times that in head 1.
ROW = np.array([1, 2, 3]) / 3


def run() -> AttentionRun:
    layer = builders.even_layer(np.broadcast_to(np.arange(1, 4)[:, None], (2, 3, 1)))
    projection = np.array([[[1]], [[-3]]], dtype=np.float32)
    return builders.run(builders.anonymous(3), layer, output_projections=(projection,))


def test_weights_are_the_run_s() -> None:
    visible = Weights(run())
    np.testing.assert_array_equal(visible.map(0, 1), run().head(0, 1))
    np.testing.assert_array_equal(visible.layer(0), run().layer(0))
    assert (visible.n_layers, visible.measure, visible.shares, visible.of_block) == (1, "weights", True, False)
    visible = Norms(run())
    np.testing.assert_allclose(visible.map(0, 1), np.tile(3 * ROW, (3, 1)), rtol=1e-6)
    np.testing.assert_allclose(visible.layer(0), [np.tile(ROW, (3, 1)), np.tile(3 * ROW, (3, 1))], rtol=1e-6)
    for mean in (combine(visible, all_maps(visible), "mean"), mean_of_all(visible)):
        np.testing.assert_allclose(mean, np.tile(2 * ROW, (3, 1)), rtol=1e-6)
    assert (visible.measure, visible.shares, visible.of_block) == ("value-weighted", False, False)
    layer = builders.even_layer(np.arange(1, 4)[None, :, None], n_queries=2)
    two, three = builders.anonymous(2), builders.anonymous(3)
    cross = builders.run(
        two, layer, output_projections=(np.array([[[2]]], dtype=np.float32),), stack="cross", source=three
    )
    np.testing.assert_allclose(Norms(cross).map(0, 0), np.tile(2 * ROW, (2, 1)), rtol=1e-6)
    np.testing.assert_allclose(Norms(cross).layer(0), np.tile(2 * ROW, (1, 2, 1)), rtol=1e-6)
    with pytest.raises(NotSupported):
        Norms(replace(run(), output_projections=(None,))).map(0, 0)


def test_maps_in_their_order_with_layers_of_different_width() -> None:
    visible = Weights(
        builders.run(builders.anonymous(2), builders.random_maps(0, 2, 2, 2), builders.random_maps(1, 1, 2, 2))
    )
    assert all_maps(visible) == [(0, 0), (0, 1), (1, 0)]
    assert maps_of_layer(visible, 0) == [(0, 0), (0, 1)]
    with pytest.raises(InvalidInput, match="and no"):
        visible.map(1, 1)
    # Two words of one token each and nothing besides: a row (1, 0, nothing else), and one of (1, 3, 0) quarters.
    encoding = builders.encoding(["a", "b"], front=None, end=None)
    actual = LayerContributions(encoding=encoding, model=builders.info(), measure="value zeroing", maps=MAPS[1:] * 0.1)
    units = align([encoding, encoding]).units[0]
    visible = ContributionView(actual)
    np.testing.assert_allclose(shares_on_common_words(visible, visible.layer(0), units), [[[1, 0, 0], [0.25, 0.75, 0]]])
    np.testing.assert_allclose(all_on_common_words(visible, units)[0], [[1, 0, 0], [0.25, 0.75, 0]])


# Layer 1: both tokens take evenly; layer 2: the first keeps all, the second takes a quarter from the first.
MAPS = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [0.25, 0.75]]], dtype=np.float32)


def of_layers(measure: ContributionMeasure) -> ContributionView:
    encoding = builders.anonymous(2)
    return ContributionView(LayerContributions(encoding=encoding, model=builders.info(), measure=measure, maps=MAPS))


def test_a_layer_as_a_whole_has_one_map() -> None:
    visible = of_layers("ALTI")
    assert (visible.n_layers, visible.measure, visible.shares, visible.of_block) == (2, "ALTI", True, True)
    assert all_maps(visible) == [(0, 0), (1, 0)]
    np.testing.assert_array_equal(visible.map(1, 0), MAPS[1])
    np.testing.assert_array_equal(visible.layer(1), MAPS[1:])
    np.testing.assert_array_equal(mean_of_all(visible), [[0.75, 0.25], [0.375, 0.625]])
    for place in ((2, 0), (-1, 0), (0, 1)):
        with pytest.raises(InvalidInput, match=r"and no (layer|map)"):
            visible.map(*place)
    assert not of_layers("value zeroing").shares
    # [[1, 0], [.25, .75]] [[.5, .5], [.5, .5]]; the first layer's rows are even, so all rows are.
    np.testing.assert_allclose(rollout(of_layers("ALTI")), [[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(rollout(of_layers("ALTI"), first=1), MAPS[1])
    with pytest.raises(InvalidInput, match="the model's 2"):
        rollout(of_layers("ALTI"), 1, 2)


def of(*layers: FloatArray) -> AttentionRun:
    return builders.run(builders.anonymous(layers[0].shape[-1]), *layers)


# In the first layer both tokens look at the first token, in the second each looks at the other.
FIRST = np.array([[[1, 0], [1, 0]], [[1, 0], [1, 0]]], dtype=np.float32)
SECOND = np.array([[[0, 1], [1, 0]], [[0, 1], [1, 0]]], dtype=np.float32)


def test_two_layers_of_two_tokens_by_hand() -> None:
    # Â1 = [[1, 0], [.5, .5]], Â2 = [[.5, .5], [.5, .5]]; Â2 Â1 = [[.75, .25], [.75, .25]].
    # The wrong order Â1 Â2 would give [[.5, .5], [.5, .5]].
    np.testing.assert_array_equal(rollout(Weights(of(FIRST, SECOND))), [[0.75, 0.25], [0.75, 0.25]])
    maps = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], dtype=np.float32)
    np.testing.assert_array_equal(rollout(Weights(of(maps))), [[0.75, 0.25], [0.25, 0.75]])
    run = of(FIRST, SECOND, FIRST)
    np.testing.assert_array_equal(rollout(Weights(run), 1, 1), [[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_array_equal(rollout(Weights(run), last=1), [[0.75, 0.25], [0.75, 0.25]])
    # Â1 Â2 = [[1, 0], [.5, .5]] [[.5, .5], [.5, .5]]
    np.testing.assert_array_equal(rollout(Weights(run), first=1), [[0.5, 0.5], [0.5, 0.5]])
    # A query that looks nowhere keeps to itself.
    maps = np.array([[[0, 0], [1, 0]]], dtype=np.float32)
    np.testing.assert_array_equal(rollout(Weights(of(maps))), [[1, 0], [0.5, 0.5]])


def test_value_weighted_by_hand() -> None:
    # One head, even attention [[.5, .5], [.5, .5]]; ‖f(x)‖ = 3 and 1, so rows become [.75, .25].
    plain = of(np.ones((1, 2, 2), dtype=np.float32))
    layer = builders.even_layer([[[3], [-1]]])
    run = builders.run(plain.encoding, layer, output_projections=(np.ones((1, 1, 1), dtype=np.float32),))
    np.testing.assert_allclose(rollout(Weights(run)), [[0.75, 0.25], [0.25, 0.75]], atol=1e-7)
    np.testing.assert_allclose(rollout(Norms(run)), [[0.875, 0.125], [0.375, 0.625]], atol=1e-7)
    with pytest.raises(NotSupported):
        rollout(Norms(plain))
    # Cross attention has no rollout.
    plain = of(FIRST, SECOND)
    cross = replace(plain, stack="cross", source=plain.encoding)
    with pytest.raises(NotSupported, match="Choose the encoder or the decoder"):
        rollout(Weights(cross))
    # A decoder rolls out its own text.
    decoder = replace(plain, stack="decoder", source=plain.encoding)
    np.testing.assert_array_equal(rollout(Weights(decoder)), rollout(Weights(plain)))


@pytest.mark.parametrize(("first", "last"), [(-1, 1), (0, 2), (1, 0), (2, None)])
def test_layers_that_make_no_sense_are_refused(first: int, last: int | None) -> None:
    with pytest.raises(InvalidInput, match="the model's 2"):
        rollout(Weights(of(FIRST, SECOND)), first, last)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_equals_a_slow_reference(n_layers: int, n_heads: int, n: int, seed: int) -> None:
    """The reference carries each token's sources up the layers, one number at a time."""
    maps = builders.random_maps(seed, n_layers, n_heads, n, n)
    result = rollout(Weights(of(*maps)))

    reached = [[float(i == j) for j in range(n)] for i in range(n)]
    for layer in range(n_layers):
        below, reached = reached, []
        for i in range(n):
            step = [0.5 * sum(maps[layer, h, i, k] for h in range(n_heads)) / n_heads for k in range(n)]
            step[i] += 0.5
            reached.append([sum(step[k] * below[k][j] for k in range(n)) for j in range(n)])
    np.testing.assert_allclose(result, reached, atol=1e-5)
    np.testing.assert_allclose(result.sum(axis=1), 1, atol=1e-5)
    assert result.dtype == np.float32
