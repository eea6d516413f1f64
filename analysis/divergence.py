"""Heads of two models that behave alike: Jensen-Shannon divergence of their attention."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.alignment import Alignment, all_on_common_words
from analysis.views import AttentionView
from model_zoo.types import FloatArray

_BLOCK_BYTES: Final = 2**18  # of one array of work: two of them stay in a core's own cache
_TINY: Final = np.float32(1e-30)  # changes no probability that float32 adds to, and has a logarithm


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """Two heads and the divergence of their attention in bits; layers and heads count from 0."""

    divergence: float
    layer_a: int
    head_a: int
    layer_b: int
    head_b: int


def jensen_shannon(a: FloatArray, b: FloatArray) -> FloatArray:
    """Jensen-Shannon divergence of every head of A (heads_a, m, k) and of B (heads_b, m, k), in bits.

    The mean over the m query rows, each a distribution over k keys: float32 (heads_a, heads_b) from 0 (the same)
    to 1 (they never look at the same key). Lin 1991: JSD(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2.
    """
    if a.shape[1:] != b.shape[1:]:
        raise ValueError(f"heads of shapes {a.shape[1:]} and {b.shape[1:]} are not on the same words")
    n_rows = a.shape[1]
    flat_a, flat_b = (np.asarray(x, dtype=np.float32).reshape(len(x), -1) + _TINY for x in (a, b))
    # With g(p, q) = Σ (p + q) ln (p + q) the divergence is (g(p, p) / 2 + g(q, q) / 2 − g(p, q)) / (2 ln 2). It is
    # the same sum three times, so where p is q the result is 0 to the last digit.
    own_a, own_b = (np.concatenate([_g(head, head[None]) for head in x]) for x in (flat_a, flat_b))
    # NumPy lets other threads run while it computes.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        mixed = np.stack(list(pool.map(lambda head: _g(head, flat_b), flat_a)))
    nats = (own_a[:, None] + own_b) / 2 - mixed
    return np.clip(nats / np.float32(2 * np.log(2) * n_rows), 0, 1)


def head_matrix(
    shown_a: AttentionView, shown_b: AttentionView, alignment: Alignment, a: int = 0, b: int = 1
) -> FloatArray:
    """``jensen_shannon`` of all maps of two models on their common words: (layers * heads of A, of B).

    ``a`` and ``b`` are the places of the two in the alignment. Head h of layer l is row or column l * heads + h; where
    all heads of a layer are looked at together, a layer counts as one head.
    """
    of_a, of_b = all_on_common_words(shown_a, alignment.units[a]), all_on_common_words(shown_b, alignment.units[b])
    return jensen_shannon(of_a, of_b)


def best_matches(divergence: FloatArray, n_heads_a: int, n_heads_b: int, k: int | None = None) -> tuple[Match, ...]:
    """For every head of A the head of B that differs least, the closest pairs first; only ``k`` where given.

    ``divergence`` is (layers * heads of A, of B) as ``head_matrix`` gives it.
    """
    best = divergence.argmin(axis=1)
    matches = [
        Match(float(divergence[row, column]), *divmod(row, n_heads_a), *divmod(int(column), n_heads_b))
        for row, column in enumerate(best)
    ]
    return tuple(sorted(matches)[:k])


def matches_table(matches: Sequence[Match], names: tuple[str, str], *, of_heads: bool = True) -> pd.DataFrame:
    """Matches with layers and heads from 1, as the screen and the CSV have them; ``names`` are those of A and B. Where
    they are not ``of_heads``, layers alone.
    """
    a, b = names
    columns = [f"{a}: layer", f"{a}: head", f"{b}: layer", f"{b}: head", "divergence (bits)"]
    rows = [
        (match.layer_a + 1, match.head_a + 1, match.layer_b + 1, match.head_b + 1, match.divergence)
        for match in matches
    ]
    table = pd.DataFrame(rows, columns=columns)
    return table if of_heads else table.drop(columns=[columns[1], columns[3]])


def matching_layer(layer: int, n_layers_a: int, n_layers_b: int) -> int:
    """The layer of B at the same relative depth as ``layer`` in A: first to first, last to last, counted from 0."""
    if not 0 <= layer < n_layers_a:
        raise ValueError(f"layer {layer} of {n_layers_a}")
    if n_layers_a == 1:
        return n_layers_b - 1  # its only layer is its last
    steps = n_layers_a - 1
    return (2 * layer * (n_layers_b - 1) + steps) // (2 * steps)  # rounds halves up, in whole numbers


def _g(p: FloatArray, q: FloatArray) -> FloatArray:
    """Σ (p + q) ln (p + q) over the numbers (k,) of p and each row of q (heads, k), all above 0."""
    rows = max(1, _BLOCK_BYTES // p.nbytes) if p.nbytes else 1
    values = np.empty(len(q), dtype=np.float32)
    both, logs = np.empty((2, min(rows, len(q)), len(p)), dtype=np.float32)
    for start in range(0, len(q), rows):
        block = q[start : start + rows]
        both, logs = both[: len(block)], logs[: len(block)]
        np.add(p, block, out=both)
        np.log(both, out=logs)
        np.vecdot(both, logs, out=values[start : start + rows])
    return values
