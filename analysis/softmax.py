"""The softmax by hand: cross-entropy and its gradient, a temperature, and what dividing by √d does to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from model_zoo.types import DoubleArray, FloatArray


def softmax(scores: npt.ArrayLike) -> DoubleArray:
    """e^s / Σ e^s of scores (m,) in double precision; -inf has no share."""
    exact = np.asarray(scores, dtype=np.float64)
    powers = np.exp(exact - exact.max())
    shares: DoubleArray = powers / powers.sum()
    return shares


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
    shares = softmax(logits)
    gradient = shares - np.eye(len(shares))[right]
    return Guess(tuple(shares.tolist()), -math.log(shares[right]), tuple(gradient.tolist()))


def softened(logits: Sequence[float], temperature: float) -> tuple[float, ...]:
    """The softmax of logits / T (Hinton et al. 2015, eq. 1). Logarithms of probabilities do as well as logits: they
    differ by a number that all have in common. Raises ValueError for a temperature that is not above 0.
    """
    if temperature <= 0:
        raise ValueError(f"a temperature is above 0, not {temperature}")
    return tuple(softmax(np.array(logits, dtype=np.float64) / temperature).tolist())


@dataclass(frozen=True, slots=True)
class Unscaled:
    """Shares (m,) with the scaling and without it, and for both the size of the softmax's derivative.

    ``gradient`` and ``gradient_without`` are the Frobenius norms of ∂p/∂s, the Jacobian diag(p) − p pᵀ by the scores
    that enter the softmax: near 0, no score changes the shares any more, and nothing can be learned through them.
    """

    shares: DoubleArray = field(repr=False)
    without: DoubleArray = field(repr=False)
    gradient: float
    gradient_without: float


def unscaled(scores: FloatArray, scaling: float) -> Unscaled:
    """Take the scaling away from a row of scaled scores (m,); -inf hides a key (Vaswani et al. 2017, section 3.2.1)."""
    shares, without = softmax(scores), softmax(scores.astype(np.float64) / scaling)
    return Unscaled(shares, without, jacobian_norm(shares), jacobian_norm(without))


def jacobian_norm(shares: DoubleArray) -> float:
    """‖diag(p) − p pᵀ‖ of shares p (m,) that add up to 1."""
    return float(np.linalg.norm(np.diag(shares) - np.outer(shares, shares)))
