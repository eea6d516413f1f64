"""Which items make a batch: those of similar length, in an order drawn anew for every epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_MIXED = 8
"""Batches that are drawn together before they are sorted by length: little padding, and still chance."""


def batches(lengths: Sequence[int], size: int, seed: int, epoch: int, *, pads: bool = True) -> list[list[int]]:
    """The places of the items of each batch of an epoch, each item once; a function of the seed and the epoch alone.

    Without padding (see ``LoadedModel.pads_for``) a batch holds items of one length only.
    """
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths)).tolist()
    if not pads:
        by_length: dict[int, list[int]] = {}
        for place in order:
            by_length.setdefault(lengths[place], []).append(place)
        drawn = list(by_length.values())
    else:
        step = size * _MIXED
        drawn = [sorted(order[at : at + step], key=lengths.__getitem__) for at in range(0, len(order), step)]
    parts = [group[at : at + size] for group in drawn for at in range(0, len(group), size)]
    return [parts[place] for place in rng.permutation(len(parts))]


def n_batches(lengths: Sequence[int], size: int, *, pads: bool = True) -> int:
    """The number of batches in an epoch."""
    return len(batches(lengths, size, 0, 0, pads=pads))
