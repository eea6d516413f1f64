"""Lists of sentence pairs, judged against labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from model_zoo.types import FloatArray, Shows

MAX_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions from ``low`` to ``high``: how many, their mean, and how many of them really were next."""

    low: float
    high: float
    n: int
    mean: float
    share_next: float


@dataclass(frozen=True, slots=True)
class Judged(Shows):
    """Predictions against labels. ``calibration_error`` is the mean of |share - mean| over the bins, weighted by n
    (expected calibration error, Guo et al. 2017).
    """

    n: int
    accuracy: float
    bins: tuple[Bin, ...] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row a bin of the calibration curve: low, high, n, mean, share_next."""
        return pd.DataFrame([asdict(bin_) for bin_ in self.bins])

    @property
    def calibration_error(self) -> float:
        return sum(bin_.n * abs(bin_.share_next - bin_.mean) for bin_ in self.bins) / self.n


def judge(p_next: Sequence[float] | FloatArray, labels: Sequence[bool | None], n_bins: int = 10) -> Judged | None:
    """Accuracy at the threshold 0.5 and the calibration curve, bins of equal width without the empty ones.

    Pairs without a label are left out; None if none has one.
    """
    known = [(p, label) for p, label in zip(p_next, labels, strict=True) if label is not None]
    if not known:
        return None
    p, is_next = np.array([p for p, _ in known], dtype=np.float64), np.array([label for _, label in known])
    places = np.minimum((p * n_bins).astype(int), n_bins - 1)
    bins = tuple(
        Bin(
            place / n_bins,
            (place + 1) / n_bins,
            int((places == place).sum()),
            float(p[places == place].mean()),
            float(is_next[places == place].mean()),
        )
        for place in np.unique(places).tolist()
    )
    return Judged(len(p), float(((p > 0.5) == is_next).mean()), bins)
