"""Attention of one token, or of one sentence, over all layers and heads at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, FloatArray, check_range


@dataclass(frozen=True, slots=True)
class Look:
    """One strong weight: its head, and the token it looks at."""

    layer: int
    head: int
    key: int
    weight: float


def attention_from_token(run: AttentionRun, position: int) -> FloatArray:
    """How a token divides its attention in every head: float32 (layers, heads, m keys), rows sum to 1.

    Layers with fewer heads than ``run.n_heads`` leave zeros. Raises InvalidInput for a token that does not exist.
    """
    check_range("The text", "token", position, run.n_tokens)
    shares = np.zeros((run.n_layers, run.n_heads, run.n_keys), dtype=np.float32)
    for layer in range(run.n_layers):
        rows = run.layer(layer, slice(position, position + 1))[:, 0]
        shares[layer, : len(rows)] = rows
    return shares


def strongest(weights: FloatArray, run: AttentionRun, position: int, n: int = 8) -> tuple[Look, ...]:
    """The n largest weights of ``attention_from_token``, (layers, heads, keys). Those on special tokens and on the
    token itself are left out; in cross-attention, whose keys are another text's, only the former.
    """
    kept = np.array([not special for special in run.key_encoding.special])
    if run.stack != "cross":
        kept[position] = False
    visible = np.where(kept, weights, -1)
    best = np.argsort(-visible, axis=None, kind="stable")[: min(n, int(kept.sum()) * weights[..., 0].size)]
    return tuple(
        Look(int(layer), int(head), int(key), float(weights[layer, head, key]))
        for layer, head, key in zip(*np.unravel_index(best, weights.shape), strict=True)
    )


def reach(run: AttentionRun) -> tuple[int, ...]:
    """How many tokens away the farthest token lies that gets any weight, in each layer, over all heads and queries."""
    queries, keys = np.arange(run.n_tokens), np.arange(run.n_keys)
    away = np.abs(queries[:, None] - keys[None, :])
    return tuple(int(away[(run.layer(layer) > 0).any(axis=0)].max()) for layer in range(run.n_layers))


def between_sentences(run: AttentionRun) -> FloatArray:
    """Share of attention that goes from one sentence to the other in every head: float32 (2, layers, heads).

    Index 0 is A -> B, 1 is B -> A. Means over the words of the one sentence, special tokens left out, of the
    sum over the words of the other. Raises InvalidInput unless both sentences have words.
    """
    segments, special = np.array(run.encoding.segment_ids), np.array(run.encoding.special)
    sides = [np.flatnonzero((segments == side) & ~special) for side in (0, 1)]
    if not all(len(side) for side in sides):
        raise InvalidInput("Attention between two sentences needs two with words in them. Type both.")
    shares = np.zeros((2, run.n_layers, run.n_heads), dtype=np.float32)
    for layer in range(run.n_layers):
        weights = run.layer(layer)
        for direction, (queries, keys) in enumerate((sides, sides[::-1])):
            shares[direction, layer, : len(weights)] = weights[:, queries][:, :, keys].sum(axis=-1).mean(axis=-1)
    return shares
