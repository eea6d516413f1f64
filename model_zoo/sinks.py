"""Attention sinks measured: what every head gives to special tokens, and what it thereby adds, from one pass.

What a head adds is as wide as the model, but lies in the d' dimensions of its values: its lengths and singular values
are those of vectors of d' numbers, and no array of all heads is as wide as the model.
"""

from __future__ import annotations

import numpy as np

from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, DoubleArray, FloatArray, Sinks, read_only

_ROUNDING = 1e-12  # of a squared singular value, as a share of their sum: what rounding leaves of zero


def measure_run(run: AttentionRun) -> Sinks:
    """What a run of the encoder with its hidden states says of its special tokens."""
    special = np.array(run.encoding.special, dtype=bool)
    if not special.any():
        special[0] = True
    places, ordinary = np.flatnonzero(special), np.flatnonzero(~special)
    if not len(ordinary):
        raise InvalidInput(
            "Whether heads look at special tokens is measured from the other tokens, and this text has none. "
            "Type a sentence."
        )
    layers, heads, k = run.n_layers, run.n_heads, len(places)
    share, value, added = np.full((3, layers, heads, k), np.nan)
    ordinary_value, update, common, rank = np.full((4, layers, heads), np.nan)
    even, stream = np.empty((layers, k)), np.empty(layers)
    for layer in range(layers):
        lengths = run.value_norms(layer).astype(np.float64)  # raises NotSupported where values are not known
        weights = run.layer(layer)[:, ordinary]  # (heads, queries, n)
        visible = np.any(weights > 0, axis=0)
        n_visible = np.maximum(visible.sum(axis=-1, keepdims=True), 1)
        even[layer] = (visible[:, places] / n_visible).mean(axis=0)
        entering = run.states.states[layer, ordinary].astype(np.float64)
        stream[layer] = max(np.linalg.norm(entering, axis=-1).mean(), np.finfo(np.float32).tiny)
        of_layer = slice(0, len(weights))
        share[layer, of_layer] = weights[..., places].mean(axis=1, dtype=np.float64)
        value[layer, of_layer] = lengths[:, places]
        added[layer, of_layer] = share[layer, of_layer] * value[layer, of_layer] / stream[layer]
        ordinary_value[layer, of_layer] = lengths[:, ordinary].mean(axis=-1)
        length, common[layer, of_layer], rank[layer, of_layer] = _updates(run, layer, weights)
        update[layer, of_layer] = length / stream[layer]
    arrays = {
        "share": share,
        "even": even,
        "value": value,
        "ordinary_value": ordinary_value,
        "stream": stream,
        "added": added,
        "update": update,
        "common": common,
        "rank": rank,
    }
    return Sinks(
        encoding=run.encoding,
        model=run.model,
        places=tuple(places.tolist()),
        **{name: read_only(array.astype(np.float32)) for name, array in arrays.items()},
    )


def _updates(run: AttentionRun, layer: int, weights: FloatArray) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
    """Of the updates u_i = Σ_j α_ij f(x_j) of each head's queries, ``weights`` (heads, queries, n): their mean length,
    ‖mean‖² as a share of the mean square, and their effective rank, (heads,) each.
    """
    captured, projection = run.value_layer(layer)
    values = captured.repeat_per_head(captured.value)
    # With W_Oᵀ = Q R and columns of Q at right angles, c W_O has the lengths and singular values of c Rᵀ.
    narrow = np.asarray(np.linalg.qr(projection.astype(np.float64).swapaxes(-1, -2), mode="r"))  # (heads, d', d')
    updates = (weights @ values).astype(np.float64) @ narrow.swapaxes(-1, -2)  # (heads, queries, d')
    squares = np.square(updates).sum(axis=-1)
    energy, of_mean = squares.mean(axis=-1), np.square(updates.mean(axis=1)).sum(axis=-1)
    common = np.divide(of_mean, energy, out=np.full_like(energy, np.nan), where=energy > 0)
    singular = np.maximum(np.linalg.eigvalsh(updates.swapaxes(-1, -2) @ updates), 0)  # squared
    total = singular.sum(axis=-1, keepdims=True)
    shares = np.divide(singular, total, out=np.zeros_like(singular), where=total > 0)
    shares[shares < _ROUNDING] = 0
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=-1)
    return np.sqrt(squares).mean(axis=-1), common, np.where(energy > 0, np.exp(entropy), np.nan)
