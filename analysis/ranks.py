"""Spearman's rank correlation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model_zoo.types import DoubleArray


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> DoubleArray:
    """Spearman's correlation over the last axis of two arrays that broadcast: of equal values the mean rank counts; NaN
    where one of the two does not vary.
    """
    from scipy.stats import rankdata

    a, b = (rankdata(np.asarray(side), axis=-1) for side in (first, second))
    a, b = (side - side.mean(axis=-1, keepdims=True) for side in (a, b))
    scale = np.sqrt(np.square(a).sum(axis=-1) * np.square(b).sum(axis=-1))
    return np.divide((a * b).sum(axis=-1), scale, out=np.full(scale.shape, np.nan), where=scale > 0)
