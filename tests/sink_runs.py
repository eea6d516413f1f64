"""Runs of one layer whose attention, values and stream are given, to measure what special tokens do in."""

from typing import Any

import builders
import numpy as np

from model_zoo.types import AttentionRun, Encoding, HiddenStates, QueryKeyLayer

SENTENCE = builders.encoding(["the", "old", "cat", "sat", "here"])
"""[CLS], five words, [SEP]."""


def run_of(
    weights: Any, values: Any, stream: Any, encoding: Encoding = SENTENCE, projection: Any = None
) -> AttentionRun:
    """``weights`` (heads, n, n) whose rows sum to 1, ``values`` (heads, n, d') and ``stream`` (n, width). Without a
    ``projection`` (heads, d', width) a head adds its mixture of values as it is.
    """
    weights, values = np.asarray(weights, dtype=np.float32), np.asarray(values, dtype=np.float32)
    heads, n, _ = weights.shape
    # Scores are the logarithms of the weights; e to the power of -200 is 0 in float32, what may not be seen.
    layer = QueryKeyLayer(
        query=np.log(weights, where=weights > 0, out=np.full_like(weights, -200)),
        key=np.broadcast_to(np.eye(n, dtype=np.float32), (heads, n, n)),
        value=values,
        scaling=1.0,
    )
    if projection is None:
        projection = np.broadcast_to(np.eye(values.shape[-1]), (heads, values.shape[-1], values.shape[-1]))
    entering = np.asarray(stream, dtype=np.float32)
    return builders.run(
        encoding,
        layer,
        output_projections=(np.asarray(projection, dtype=np.float32),),
        hidden_states=HiddenStates(encoding, np.stack([entering, entering])),
    )


def looks_at(place: int, share: float, n: int = len(SENTENCE)) -> np.ndarray:
    """One head, (1, n, n): every token gives so much to one place, and the rest in equal parts to the others."""
    weights = np.full((1, n, n), (1 - share) / (n - 1))
    weights[..., place] = share
    return weights
