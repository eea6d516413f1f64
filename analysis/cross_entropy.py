"""Softmax and cross-entropy by hand, from a few logits to a loss and its gradient, and softer at a temperature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from model_zoo.types import DoubleArray


@dataclass(frozen=True, slots=True)
class Guess:
    """``probabilities`` are the softmax of the logits, ``loss`` is −ln of that of the right answer, in nats.

    ``gradient`` is the derivative of the loss by each logit: p − y, y being 1 for the right answer and 0 for others.
    """

    probabilities: tuple[float, ...] = field(repr=False)
    loss: float
    gradient: tuple[float, ...] = field(repr=False)


def guess(logits: Sequence[float], right: int) -> Guess:
    """The cross-entropy of a softmax over ``logits`` where the answer at the place ``right`` is the correct one."""
    exact = np.array(logits, dtype=np.float64)
    powers = np.exp(exact - exact.max())
    shares = powers / powers.sum()
    gradient = shares.copy()
    gradient[right] -= 1
    return Guess(tuple(shares.tolist()), -math.log(shares[right]), tuple(gradient.tolist()))


def softened(logits: Sequence[float], temperature: float) -> tuple[float, ...]:
    """The softmax of logits / T (Hinton et al. 2015, eq. 1). Logarithms of probabilities do as well as logits: they
    differ by a number that all have in common. Raises ValueError for a temperature that is not above 0.
    """
    if temperature <= 0:
        raise ValueError(f"a temperature is above 0, not {temperature}")
    exact: DoubleArray = np.array(logits, dtype=np.float64) / temperature
    powers = np.exp(exact - exact.max())
    return tuple((powers / powers.sum()).tolist())
