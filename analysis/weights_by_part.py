"""Where the weights of a model lie: how many numbers its embeddings, attention and feed-forward networks hold."""

from __future__ import annotations

from collections.abc import Mapping


def weights_by_part(
    *, vocabulary: int, positions: int, width: int, inner: int, layers: int, gated: bool = False
) -> Mapping[str, int]:
    """Numbers in the matrices of an encoder, biases and norms left out.

    Embeddings have a row of ``width`` for each token and position; attention has four matrices (width, width) a layer,
    W_Q, W_K, W_V and W_O; the feed-forward network two of (width, inner), and a third where it is ``gated``.
    """
    return {
        "embeddings": (vocabulary + positions) * width,
        "attention": layers * 4 * width * width,
        "feed-forward": layers * (3 if gated else 2) * width * inner,
    }
