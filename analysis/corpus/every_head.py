"""Every head of a model: which there are, and how often each finds the partner of a relation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.corpus.moments import Moments
from analysis.corpus.relations import Cases
from model_zoo.types import DoubleArray, IntArray


def layers_and_heads(n_heads: Sequence[int]) -> tuple[IntArray, IntArray]:
    """The layer and the number of every head, both from 0, (heads of all layers,) each, of the heads of each layer."""
    layers = np.repeat(np.arange(len(n_heads)), n_heads)
    heads = np.concatenate([np.arange(n) for n in n_heads]) if n_heads else np.zeros(0, dtype=np.int64)
    return layers, heads


def shares_right(cases: Cases) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
    """The share of cases in which each head is right, and the ends of its 95% interval, (heads,) each; nan without
    cases, and for intervals with those of one unit alone. ``cases`` are those of one relation, and of the half that
    judges where a head was chosen on the other.
    """
    order = np.argsort(cases.unit, kind="stable")
    numbers, starts, sizes = np.unique(cases.unit[order], return_index=True, return_counts=True)
    if len(numbers):
        sums = np.add.reduceat(cases.heads_right()[order].astype(np.float64), starts, axis=0)
    else:
        sums = np.zeros((0, cases.n_heads))
    moments = Moments.from_sums(sums, sizes[:, None].astype(np.float64))
    return moments.means, *moments.intervals(shares=True)
