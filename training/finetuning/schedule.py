"""The schedule of a training: its phases, the learning rate within one, and its batches. Imports no torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from training.finetuning.settings import Learns

_MIXED = 8
"""Batches that are drawn together before they are sorted by length: little padding, and still chance."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Some epochs in which the same weights learn."""

    learns: Learns
    epochs: int
    rate: float


def rate_at(step: int, n_steps: int, warmup: float) -> float:
    """The share of the highest learning rate at a step that counts from 0: rising, then falling to 0 in a line."""
    rising = math.ceil(warmup * n_steps)
    if step < rising:
        return step / max(1, rising)
    return max(0.0, (n_steps - step) / max(1, n_steps - rising))


def rate_after(spent: float, warmup: float) -> float:
    """The same by the share of a budget in seconds that is spent."""
    if spent < warmup:
        return spent / warmup
    return (1 - spent) / (1 - warmup) if warmup < 1 else 0.0


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
