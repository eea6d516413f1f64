"""What tuning changed inside a model: heads, layers, and where texts are in the plane while it learns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.divergence import jensen_shannon
from analysis.probing.cka import linear_cka
from analysis.probing.pca import principal_components
from model_zoo.types import AttentionRun, FloatArray, HiddenStates


def change_of_heads(before: AttentionRun, after: AttentionRun) -> FloatArray:
    """Jensen-Shannon divergence of every head before and after, in bits: float32 (layers, heads) from 0 to 1.

    The mean over the query tokens of the text. Heads that a layer does not have are nan. Raises ValueError where the
    two runs do not have the same tokens, layers and heads.
    """
    if before.encoding.ids != after.encoding.ids or before.n_layers != after.n_layers:
        raise ValueError("a model before and after has the same tokens and layers")
    change = np.full((before.n_layers, max(layer.n_heads for layer in before.layers)), np.nan, dtype=np.float32)
    for layer in range(before.n_layers):
        of_heads = np.diag(jensen_shannon(before.layer(layer), after.layer(layer)))
        change[layer, : len(of_heads)] = of_heads
    return change


def most_changed(change: FloatArray) -> list[tuple[int, int]]:
    """Layer and head, from 0, of every head, the one that changed most first. ``change`` is (layers, heads); heads that
    a layer lacks are nan there and are left out, and of equal changes the earlier head comes first.
    """
    heads = [(-float(value), layer, head) for (layer, head), value in np.ndenumerate(change) if not np.isnan(value)]
    return [(layer, head) for _, layer, head in sorted(heads)]


def cka_by_layer(before: Sequence[HiddenStates], after: Sequence[HiddenStates]) -> FloatArray:
    """Linear CKA of each layer before and after, float32 (layers + 1,), over the tokens of all texts but special ones.

    1 where the vectors form the same shape up to rotation, shift and scale.
    """
    of_both = [_tokens(states) for states in (before, after)]
    return np.array([linear_cka(a, b) for a, b in zip(*of_both, strict=True)], dtype=np.float32)


def turned(before: HiddenStates, after: HiddenStates) -> FloatArray:
    """1 − cosine of every token's vector before and after, float32 (layers + 1, n), from 0 to 2.

    0 where a vector points as before, and where both are 0. Raises ValueError where the two do not have the same
    tokens, layers and width.
    """
    if before.encoding.ids != after.encoding.ids or before.states.shape != after.states.shape:
        raise ValueError("a model before and after has the same tokens, layers and width")
    a, b = before.states.astype(np.float64), after.states.astype(np.float64)
    lengths = np.linalg.norm(a, axis=2) * np.linalg.norm(b, axis=2)
    cosines = np.divide((a * b).sum(axis=2), lengths, out=np.ones_like(lengths), where=lengths > 0)
    return np.clip(1 - cosines, 0, 2).astype(np.float32)


def _tokens(states: Sequence[HiddenStates]) -> FloatArray:
    """The vectors of the texts' tokens, (layers + 1, n, width)."""
    return np.concatenate([hidden.states[:, ~np.array(hidden.encoding.special)] for hidden in states], axis=1)


@dataclass(frozen=True, slots=True)
class Path:
    """``points`` (moments, n, 2): the place of each text at each moment, on two axes that are the same for all moments;
    ``explained``: the share of the variance, over all moments, that each axis shows.
    """

    points: FloatArray = field(repr=False)
    explained: tuple[float, float]


def path_in_the_plane(moments: Sequence[FloatArray]) -> Path:
    """The first two principal components of the vectors (n, width) of all moments together, n > 1."""
    vectors = np.stack(list(moments))
    projection = principal_components(vectors.reshape(1, -1, vectors.shape[-1]))
    first, second = projection.explained[0].tolist()
    return Path(projection.points[0].reshape(*vectors.shape[:2], 2), (first, second))
