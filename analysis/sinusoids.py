"""Positions by formula: sines and cosines (Vaswani et al. 2017), and angles that turn queries and keys (RoPE)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model_zoo.types import DoubleArray

BASE = 10_000.0


def sinusoids(n: int, width: int) -> DoubleArray:
    """PE (n, width): PE(pos, 2i) = sin(pos / 10000^(2i / width)), PE(pos, 2i + 1) = cos of the same."""
    angles = np.arange(n)[:, None] * frequencies(width)[None]
    encoding = np.empty((n, 2 * angles.shape[1]))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding[:, :width]


def frequencies(width: int, base: float = BASE) -> DoubleArray:
    """θ_i = base^(−2i / width), (⌈width / 2⌉,): radians a position."""
    powers: DoubleArray = base ** (-np.arange(0, width, 2) / width)
    return powers


def turned(vector: npt.NDArray[np.floating], position: float, theta: npt.NDArray[np.floating]) -> DoubleArray:
    """A query or key (d,) turned by its position: each pair of dimensions (i, i + d/2) by position · θ_i.

    Su et al. 2021 (RoFormer), with the pairs as GPT-NeoX and ModernBERT have them. The dot product of two turned
    vectors depends on the difference of their positions alone.
    """
    first, second = np.split(vector.astype(np.float64), 2)
    cos, sin = np.cos(position * theta), np.sin(position * theta)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin])
