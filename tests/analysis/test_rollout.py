"""Rollout by hand on two layers of two tokens, and against a slow reference on random maps."""

from dataclasses import replace

import builders
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rollout import rollout
from analysis.views import Norms, Weights
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun, FloatArray


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
    with pytest.raises(InvalidInput, match="layers 1 to 2"):
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
