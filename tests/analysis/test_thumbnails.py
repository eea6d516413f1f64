"""Thumbnails against a slow maximum over each block, and values known by hand."""

import numpy as np
import pytest

from analysis.thumbnails import thumbnails
from model_zoo.types import FloatArray


def random_maps(heads: int, n: int, seed: int = 0) -> FloatArray:
    maps = np.random.default_rng(seed).random((heads, n, n), dtype=np.float32) ** 8
    maps /= maps.sum(axis=-1, keepdims=True)
    return maps


def test_four_tokens_in_two_pixels_by_hand() -> None:
    weights = np.array([[[0, 0.04, 0, 0.96], [0.01, 0, 0.25, 0.74], [0, 0, 0, 1], [0.16, 0.09, 0.5, 0.25]]], np.float32)
    # Largest of each 2x2 block: 0.04, 0.96 / 0.16, 1; 255 times their roots 0.2, 0.9798, 0.4, 1.
    np.testing.assert_array_equal(thumbnails([weights], size=2).pixels, [[[[51, 250], [102, 255]]]])
    weights = np.array([[[1, 0], [0.25, 0.75]]], np.float32)
    np.testing.assert_array_equal(thumbnails([weights]).pixels, [[[[255, 0], [128, 221]]]])
    weights = np.array([[[0.25, 0.01, 0.74], [0.0, 1.0, 0.0]]], np.float32)
    np.testing.assert_array_equal(thumbnails([weights], size=2).pixels, [[[[128, 219], [0, 255]]]])
    with pytest.raises(ValueError, match="at least 1 pixel"):
        thumbnails([random_maps(1, 2)], size=0)
    pictures = thumbnails([np.full((1, 1, 1), 4.0, np.float32), np.full((1, 1, 1), 1.0, np.float32)], shares=False)
    assert pictures.maximum == 4
    np.testing.assert_array_equal(pictures.pixels.ravel(), [255, 128])  # 255 · √(1/4) = 127.5, to even
    assert thumbnails([np.full((1, 1, 1), 1.0000005, np.float32)]).maximum == 1
    assert thumbnails([np.full((1, 1, 1), 0.25, np.float32)], shares=False).maximum == 0.25
    assert thumbnails([np.zeros((1, 1, 1), np.float32)], shares=False).maximum == 1


@pytest.mark.parametrize(
    ("n", "size"), [(7, 3), (64, 64), (65, 64), (100, 64), (127, 64), (128, 64), (191, 64), (5, 1)]
)
def test_equals_the_slow_maximum_of_uneven_blocks(n: int, size: int) -> None:
    layers = [random_maps(3, n, seed) for seed in range(2)]
    small = thumbnails(layers, size=size).pixels
    s = min(n, size)
    edges = [i * n // s for i in range(s + 1)]
    assert small.shape == (2, 3, s, s)
    assert small.dtype == np.uint8
    for layer, maps in enumerate(layers):
        for i in range(s):
            for j in range(s):
                block = maps[:, edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
                expected = np.rint(255 * np.sqrt(block.max(axis=(1, 2))))
                np.testing.assert_array_equal(small[layer, :, i, j], expected)


def test_a_layer_with_fewer_heads_leaves_zeros() -> None:
    small = thumbnails([random_maps(2, 4), random_maps(1, 4)])
    assert small.pixels.shape == (2, 2, 4, 4)
    assert small.n_heads == (2, 1)
    assert (small.pixels[1, 1] == 0).all()
    assert small.pixels[1, 0].any()
    # Layers of one picture stand in a row.
    layers = [random_maps(1, 3, seed) for seed in range(4)]
    below, beside = thumbnails(layers), thumbnails(layers).in_a_row()
    assert (beside.pixels.shape, beside.n_heads) == ((1, 4, 3, 3), (4,))
    np.testing.assert_array_equal(beside.pixels[0], below.pixels[:, 0])
    # The run's own matrices stay as they are.
    maps = random_maps(2, 10)
    before = maps.copy()
    thumbnails([maps], size=4)
    np.testing.assert_array_equal(maps, before)
    # A diagonal one token wide survives.
    small = thumbnails([np.eye(512, dtype=np.float32)[None]], size=64).pixels
    np.testing.assert_array_equal(small[0, 0], 255 * np.eye(64, dtype=np.uint8))


@pytest.mark.parametrize(("n", "pooled"), [(13, False), (64, False), (65, True)])
def test_a_pixel_stands_for_several_tokens_only_where_there_are_more_than_pixels(n: int, pooled: bool) -> None:
    small = thumbnails([random_maps(1, n)])
    assert (small.n_queries, small.n_keys, small.pooled) == (n, n, pooled)
    assert thumbnails([random_maps(1, n)[:, :2]]).pooled == pooled  # two queries, which no pixel shares
