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
    numbers, place = np.unique(cases.sentence, return_inverse=True)
    sums = np.zeros((len(numbers), cases.n_heads))
    np.add.at(sums, place, cases.heads_right())
    counts = np.bincount(place, minlength=len(numbers))[:, None].astype(np.float64)
    moments = Moments.of(sums, counts)
    return moments.means, *moments.intervals(shares=True)
