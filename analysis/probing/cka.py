"""How alike two layers are: linear centred kernel alignment (Kornblith et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.alignment import align, states_on_common_words
from model_zoo.errors import InvalidInput
from model_zoo.types import DoubleArray, FloatArray, HiddenStates

MOST_WORDS = 1000
"""Words that two models are compared on: every layer takes a matrix of words by words."""


def linear_cka(x: FloatArray, y: FloatArray) -> float:
    """‖Yᵀ X‖² / (‖Xᵀ X‖ ‖Yᵀ Y‖) of centred x (n, width) and y (n, width'), Frobenius norms; in [0, 1].

    1 for equal vectors up to rotation, shift and one common scale. 0 where a side does not vary. Memory grows with the
    square of n or of the width, whichever is less.
    """
    if len(x) <= max(x.shape[1], y.shape[1]):
        return float(cka_matrix_of([x, y])[0, 1])
    a, b = _centred(x), _centred(y)
    norms = np.linalg.norm(a.T @ a) * np.linalg.norm(b.T @ b)
    return float(np.clip(np.linalg.norm(b.T @ a) ** 2 / norms, 0, 1)) if norms > 0 else 0.0


def cka_matrix_of(layers: list[FloatArray] | FloatArray) -> FloatArray:
    """Linear CKA of every pair of layers, each (n, width); float32 (layers, layers), symmetric."""
    grams = np.stack([_gram(vectors) for vectors in layers])
    return np.clip(grams @ grams.T, 0, 1).astype(np.float32)


def cross_cka(a: FloatArray, b: FloatArray) -> FloatArray:
    """Linear CKA of every layer of one model with every layer of another, over the same n items in the same order.

    ``a`` is (layers, n, width), ``b`` (layers', n, width'); float32 (layers, layers'). Holds n × n numbers of
    float64 for every layer of B. With few more items than vectors are wide, all values come out high.
    """
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"{a.shape[1]} items of one model cannot be compared with {b.shape[1]} of the other")
    grams = np.stack([_gram(vectors) for vectors in b])
    return np.stack([np.clip(grams @ _gram(vectors), 0, 1) for vectors in a]).astype(np.float32)


def cka_on_common_words(a: Sequence[HiddenStates], b: Sequence[HiddenStates]) -> tuple[FloatArray, int]:
    """``cross_cka`` of two models that have read the same texts, on the words that both see in full; and how many these
    were: the first ``MOST_WORDS``. The vector of a word is the mean of its tokens'. Float32 (layers, layers'), 0 to 1
    (Kornblith et al. 2019); each text's states are (layers, n, width).

    Raises InvalidInput where both see no word in full.
    """
    pairs = []
    for first, second in zip(a, b, strict=True):
        try:
            alignment = align([first.encoding, second.encoding])
        except InvalidInput:  # not a word of this text is seen in full by both
            continue
        pairs.append(
            [
                states_on_common_words(side.states, units, side.encoding.special)
                for side, units in zip((first, second), alignment.units, strict=True)
            ]
        )
    if not pairs:
        raise InvalidInput("No word of these sentences is seen in full by both models. Type different sentences.")
    of_a, of_b = (np.concatenate([pair[side] for pair in pairs], axis=1)[:, :MOST_WORDS] for side in (0, 1))
    return cross_cka(of_a, of_b), of_a.shape[1]


def _gram(vectors: FloatArray) -> DoubleArray:
    """The products of all pairs of centred vectors, (n · n,), of length 1; zeros where nothing varies.

    ‖Yᵀ X‖² = Σ (X Xᵀ) ∘ (Y Yᵀ): one n × n matrix per layer serves all pairs of layers.
    """
    centred = _centred(vectors)
    gram = (centred @ centred.T).ravel()
    norm = np.linalg.norm(gram)
    return np.asarray(gram / norm if norm > 0 else gram)


def _centred(vectors: FloatArray) -> DoubleArray:
    return vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
