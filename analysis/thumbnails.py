"""Small pictures of all heads at once: each attention matrix shrunk by max pooling to a few dozen pixels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from model_zoo.types import FloatArray

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Thumbnails:
    """Pictures uint8 (layers, heads, s_q, s_k) of value round(255 · √(weight / maximum)).

    ``maximum`` is 1 for shares, which cannot be larger, and otherwise the largest weight of all. ``n_heads``
    are those of each layer, ``n_queries`` and ``n_keys`` the tokens of the matrices.
    """

    pixels: npt.NDArray[np.uint8] = field(repr=False)
    maximum: float
    n_heads: tuple[int, ...] = field(repr=False)
    n_queries: int
    n_keys: int

    @property
    def pooled(self) -> bool:
        """Whether a pixel shows several tokens together."""
        return self.pixels.shape[2:] != (self.n_queries, self.n_keys)

    def in_a_row(self) -> Thumbnails:
        """The same pictures, where each layer has one, beside each other instead of below."""
        return replace(self, pixels=self.pixels.swapaxes(0, 1), n_heads=(len(self.n_heads),))


def thumbnails(layers: Iterable[FloatArray], size: int = 64, *, shares: bool = True) -> Thumbnails:
    """Shrink the matrices (heads, queries, keys) of every layer to at most ``size`` pixels a side. With ``shares`` no
    weight is above 1, rounding aside.

    A pixel holds the largest weight of its block, so that a diagonal one token wide survives. Pixel i covers
    the tokens from floor(i·n/s) to floor((i+1)·n/s), so blocks differ by one token where s does not divide n.
    The square root matches the colours of the heatmap. One layer's float matrices are held at a time.
    Layers with fewer heads than the widest leave zeros. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a thumbnail needs at least 1 pixel; got {size}")
    pooled: list[FloatArray] = []
    n_queries = n_keys = 0
    for weights in layers:
        _, n_queries, n_keys = weights.shape
        pooled.append(max_pool(max_pool(weights, size, axis=1), size, axis=2))
    shape = tuple(max(layer.shape[axis] for layer in pooled) for axis in range(3))
    small = np.zeros((len(pooled), *shape), dtype=np.float32)
    for place, layer in enumerate(pooled):
        small[place, : len(layer)] = layer
    maximum = 1.0 if shares else float(small.max(initial=0)) or 1.0
    return Thumbnails(
        pixels=np.rint(255 * np.sqrt(np.clip(small / maximum, 0, 1))).astype(np.uint8),
        maximum=maximum,
        n_heads=tuple(len(layer) for layer in pooled),
        n_queries=n_queries,
        n_keys=n_keys,
    )


def max_pool(weights: npt.NDArray[Number], size: int, axis: int) -> npt.NDArray[Number]:
    """The maximum of each of min(n, size) blocks along an axis of length n.

    Takes the first token of all blocks, then the maximum with the second of all, and so on; a shorter block
    repeats its last. Blocks are short and many, for which np.maximum.reduceat is ten times slower.
    """
    n = weights.shape[axis]
    s = min(n, size)
    edges = np.arange(s + 1) * n // max(s, 1)
    starts, lasts = edges[:-1], edges[1:] - 1
    pooled = weights.take(starts, axis=axis)
    for offset in range(1, int((lasts - starts).max(initial=0)) + 1):
        np.maximum(pooled, weights.take(np.minimum(starts + offset, lasts), axis=axis), out=pooled)
    return pooled
