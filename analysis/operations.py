"""How many numbers the parts of a model hold, and how many multiplications a layer does with a text: what grows with
the length, and what with its square.

Every multiply-add counts once; norms, activations and softmax are left out, since they are few beside the products.
"""

from __future__ import annotations

from collections.abc import Mapping


def layer_operations(n: int, width: int, inner: int, *, gated: bool = False) -> Mapping[str, int]:
    """Counts the operations of one transformer layer on n tokens (Vaswani et al. 2017, table 1).

    "projections": x W_Q, x W_K, x W_V and context W_O; "pairs": q kᵀ and weights times values, the part that grows with
    n²; "feed-forward": two products, three where it is ``gated``.
    """
    return {
        "projections": 4 * n * width * width,
        "pairs": 2 * n * n * width,
        "feed-forward": (3 if gated else 2) * n * width * inner,
    }


def lstm_operations(n: int, width: int) -> int:
    """Counts those of an LSTM layer in one direction: four gates, each a product with input and with the last state."""
    return n * 4 * 2 * width * width


def outweighing(width: int, inner: int, *, gated: bool = False) -> int:
    """The number of tokens from which on the pairs take more than all the rest of a layer."""
    return 2 * width + (3 if gated else 2) * inner // 2 + 1


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
