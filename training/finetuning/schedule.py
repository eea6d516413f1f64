"""The schedule of a training: its phases, and the learning rate within one. Imports no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from training.finetuning.settings import Learns


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
