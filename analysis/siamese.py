"""A siamese network in its smallest form: one matrix, applied to both vectors of a pair, learns to give cosines."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analysis.sentence_vectors import pair_cosines
from model_zoo.types import DoubleArray, FloatArray

_MOMENTS = 0.9, 0.999  # of Adam


@dataclass(frozen=True, slots=True)
class Siamese:
    """``matrix`` (width, width) after training; ``losses`` before each step and after the last."""

    matrix: FloatArray = field(repr=False)
    losses: tuple[float, ...] = field(repr=False)

    def cosines(self, a: FloatArray, b: FloatArray) -> DoubleArray:
        """The cosine of each pair after the matrix: (n,)."""
        return pair_cosines(a @ self.matrix.T, b @ self.matrix.T)


def train(a: FloatArray, b: FloatArray, wanted: FloatArray, *, steps: int, rate: float) -> Siamese:
    """Learn from pairs of vectors (n, width) and the cosines wanted of them (n,), all in every step, by Adam. It begins
    with the identity, so that nothing has changed before the first step.
    """
    lengths = float(np.sqrt((a.astype(np.float64) ** 2).sum(axis=1).mean())) or 1.0
    a, b = a / lengths, b / lengths
    matrix = np.eye(a.shape[1])
    first, second = np.zeros_like(matrix), np.zeros_like(matrix)
    losses = []
    for step in range(1, steps + 1):
        loss, gradient = loss_and_gradient(matrix, a, b, wanted)
        losses.append(loss)
        first = _MOMENTS[0] * first + (1 - _MOMENTS[0]) * gradient
        second = _MOMENTS[1] * second + (1 - _MOMENTS[1]) * gradient**2
        unbiased = first / (1 - _MOMENTS[0] ** step), second / (1 - _MOMENTS[1] ** step)
        matrix = matrix - rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    losses.append(loss_and_gradient(matrix, a, b, wanted)[0])
    return Siamese(matrix.astype(np.float32), tuple(losses))


def loss_and_gradient(
    matrix: DoubleArray, a: FloatArray, b: FloatArray, wanted: FloatArray
) -> tuple[float, DoubleArray]:
    """The mean squared error of the cosines of matrix · a and matrix · b, and its gradient by the matrix.

    ``matrix`` is (outputs, width), ``a`` and ``b`` are (pairs, width), ``wanted`` (pairs,) holds cosines from -1 to 1;
    the gradient has the shape of the matrix. A vector of zeros has cosine 0. The regression objective of Reimers and
    Gurevych (2019), section 3.
    """
    left, right = a @ matrix.T, b @ matrix.T
    of_left, of_right = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (left, right))
    of_left, of_right = (np.where(rows > 0, rows, 1) for rows in (of_left, of_right))
    unit_left, unit_right = left / of_left, right / of_right
    cosines = (unit_left * unit_right).sum(axis=1)
    errors = cosines - wanted
    by_cosine = (2 * errors / len(errors))[:, None]
    by_left = by_cosine * (unit_right - cosines[:, None] * unit_left) / of_left
    by_right = by_cosine * (unit_left - cosines[:, None] * unit_right) / of_right
    return float((errors**2).mean()), by_left.T @ a + by_right.T @ b
