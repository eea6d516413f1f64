"""The effects of changes on a prediction, as one number each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, Literal, get_args

import numpy as np

from analysis.words import Unit
from model_zoo.types import Change, DoubleArray, Edge, Effects, Reading

By = Literal["bits", "probability", "difference", "divergence"]
"""By what a run is measured: log₂ P and P of the answer, its logit less that of its foil, and
KL(untouched ‖ changed) in bits.
"""
BYS: Final[tuple[By, ...]] = get_args(By)


def cut(edges: Iterable[tuple[Unit, Unit]], layer: int | None = None, head: int | None = None) -> Change:
    """No token of the first word of a pair may look at any of the second: in one layer or head from 0, else in all."""
    return Change(
        edges=tuple(
            Edge(query, key, layer, head)
            for a, b in edges
            for query in range(a.start, a.stop)
            for key in range(b.start, b.stop)
        )
    )


def measured(reading: Reading, by: By) -> float:
    """One run's number. Raises ValueError for a difference where there is no foil."""
    match by:
        case "bits":
            return reading.log_probability / math.log(2)
        case "probability":
            return math.exp(reading.log_probability)
        case "difference":
            if reading.foil_logit is None:
                raise ValueError("there is no second answer to take a difference to")
            return reading.logit - reading.foil_logit
        case "divergence":
            return reading.divergence / math.log(2)


def lost(effects: Effects, by: By) -> DoubleArray:
    """What the target loses by each change, before less after, (changes,): above 0 where the changed part supports it,
    below where it opposes it; a divergence has no sign and is given as it is.
    """
    after = np.array([measured(reading, by) for reading in effects.readings])
    return after if by == "divergence" else measured(effects.untouched, by) - after


def recovered(effects: Effects, by: By) -> DoubleArray:
    """How far each patched run has moved from the untouched run to that of the other text, (changes,): 0 is not at all,
    1 is all of the way (Wang et al. 2023).

    nan where the two runs do not differ by this measure.
    """
    if effects.other is None:
        raise ValueError("no other run's values were put in")
    before, goal = measured(effects.untouched, by), measured(effects.other, by)
    if abs(goal - before) < _SAME:
        return np.full(len(effects.readings), np.nan)
    return lost(effects, by) / (before - goal)


_SAME: Final = 1e-3  # of bits or logits: two runs that differ by less say the same


def same_answer(effects: Effects, reading: Reading) -> bool:
    """Whether a run has the same top prediction as the untouched one."""
    return reading.best[0].id == effects.untouched.best[0].id
