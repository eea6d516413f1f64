"""What dividing by √d does to the softmax: the shares, and how much of an error gets through to the scores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from model_zoo.types import DoubleArray, FloatArray


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
    exact = scores.astype(np.float64)
    shares, without = _softmax(exact), _softmax(exact / scaling)
    return Unscaled(shares, without, jacobian_norm(shares), jacobian_norm(without))


def jacobian_norm(shares: DoubleArray) -> float:
    """‖diag(p) − p pᵀ‖ of shares p (m,) that add up to 1."""
    return float(np.linalg.norm(np.diag(shares) - np.outer(shares, shares)))


def _softmax(scores: DoubleArray) -> DoubleArray:
    powers = np.exp(scores - scores.max())
    probabilities: DoubleArray = powers / powers.sum()
    return probabilities
