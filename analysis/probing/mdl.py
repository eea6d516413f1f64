"""Minimum description length of the labels given the vectors, by online coding (Voita & Titov 2020).

The training labels are sent in blocks that double in size. The first block goes at uniform cost, each of the next is
coded by the probe trained on all blocks before it:

    L = t_1 log2 K - Σ_i log2 p_i(labels of block i + 1 | their vectors)

A layer from which the labels are easy to get, from few examples, gives a short code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.probing.classifier import ProbeKind, fit
from analysis.probing.features import Vectors
from model_zoo.types import FloatArray, IntArray

# Ends of the blocks as shares of the training data, the paper's from its fourth on: with the thousand or so
# examples used here its first three would hold one to three labels.
SHARES = (0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class CodeLength:
    """Bits the labels take by online coding, and by the uniform code (n log2 K)."""

    bits: float
    uniform_bits: float

    @property
    def compression(self) -> float:
        """How many times shorter the code is than the uniform one; 1 or less means that nothing was found."""
        return self.uniform_bits / self.bits


def online_code(first_block: int, n_classes: int, log_probabilities: Sequence[FloatArray]) -> CodeLength:
    """The definition: block size t_1, number of labels K, and for each following block the natural log of the
    probability given to each of its true labels."""
    bits = first_block * np.log2(n_classes) - sum(float(block.sum()) for block in log_probabilities) / np.log(2)
    n = first_block + sum(len(block) for block in log_probabilities)
    return CodeLength(bits=float(bits), uniform_bits=float(n * np.log2(n_classes)))


def block_ends(n: int) -> list[int]:
    """Ends of the blocks for n training items: the shares, at least 2 items, each end once."""
    return sorted({min(max(round(share * n), 2), n) for share in SHARES})


def description_length(
    vectors: Vectors,
    rows: IntArray,
    labels: IntArray,
    n_classes: int,
    seed: int,
    *,
    c: float = 1.0,
    kind: ProbeKind = "linear",
) -> CodeLength:
    """Online code of the labels (one per row), in an order drawn by the seed, by probes of this ``kind`` and C. Codes
    of different layers are compared at one C: where little can be read, a code of few examples is several times as long
    with C = 1 as with 0.01.

    u labels that t examples have not shown share the probability u / (t + u) equally, the others are scaled
    by t / (t + u): without this the first new label would cost infinitely many bits.
    """
    order = np.random.default_rng(seed).permutation(len(rows))
    rows, labels = rows[order], labels[order]
    ends = block_ends(len(rows))
    coded = []
    for end, following in pairwise(ends):
        probe = fit(vectors, rows[:end], labels[:end], n_classes, c=c, kind=kind, seed=seed)
        block = slice(end, following)
        log_p = probe.log_probabilities(vectors, rows[block])
        seen = np.unique(labels[:end])
        unseen = n_classes - len(seen)
        if unseen:
            known = np.isin(labels[block], seen)
            true = np.where(
                known,
                log_p[np.arange(len(log_p)), labels[block]] + np.log(end / (end + unseen)),
                -np.log(end + unseen),
            )
        else:
            true = log_p[np.arange(len(log_p)), labels[block]]
        coded.append(true.astype(np.float32))
    return online_code(ends[0], n_classes, coded)
