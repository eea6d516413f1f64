"""How often every head finds the partner of a relation, with intervals over sentences."""

from __future__ import annotations

import numpy as np

from analysis.corpus.moments import Moments
from analysis.corpus.relations import Cases
from model_zoo.types import DoubleArray


def shares_right(cases: Cases) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
    """The share of cases in which each head is right, and the ends of its 95% interval, (heads,) each; nan without
    cases, and for intervals with those of one sentence alone. ``cases`` are those of one relation, and of the half that
    judges where a head was chosen on the other.
    """
    order = np.argsort(cases.sentence, kind="stable")
    numbers, starts, sizes = np.unique(cases.sentence[order], return_index=True, return_counts=True)
    if len(numbers):
        sums = np.add.reduceat(cases.heads_right()[order].astype(np.float64), starts, axis=0)
    else:
        sums = np.zeros((0, cases.n_heads))
    moments = Moments.of(sums, sizes[:, None].astype(np.float64))
    return moments.means, *moments.intervals(shares=True)
