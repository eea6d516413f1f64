"""Minimal pairs, two sentences of which one is right: how often a model prefers the right one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.intervals import wilson
from model_zoo.types import EQUAL_NATS, Shows
from reading.items import MinimalPair as MinimalPair


@dataclass(frozen=True, slots=True)
class Accuracy(Shows):
    """How often the right sentence has the higher score, over ``n`` pairs; a tie counts half.

    ``phenomenon`` and ``paradigm`` say which pairs, "" for all of them. ``low`` and ``high`` are the 95% interval
    (Wilson 1927); chance is 0.5. ``mean_difference`` is that of the scores, right less wrong, in nats.
    """

    phenomenon: str
    paradigm: str
    n: int
    n_ties: int
    accuracy: float
    low: float
    high: float
    mean_difference: float


def accuracies(rows: Sequence[MinimalPair], differences: Sequence[float]) -> tuple[Accuracy, ...]:
    """Over all pairs, then each phenomenon, and each paradigm where a phenomenon has several; nan is not counted.

    ``differences`` are the scores of the right sentences less those of the wrong ones (nats), one per row. Phenomena
    and paradigms come as they first occur. Empty where nothing was scored.
    """
    judged = [(row, value) for row, value in zip(rows, differences, strict=True) if not math.isnan(value)]
    if not judged:
        return ()
    table = [_accuracy("", "", [value for _, value in judged])]
    phenomena = dict.fromkeys(row.phenomenon for row, _ in judged)
    if list(phenomena) == [""]:
        return tuple(table)
    for phenomenon in phenomena:
        mine = [(row.paradigm, value) for row, value in judged if row.phenomenon == phenomenon]
        paradigms = list(dict.fromkeys(paradigm for paradigm, _ in mine))
        only = paradigms[0] if len(paradigms) == 1 else ""
        table.append(_accuracy(phenomenon or "none given", only, [value for _, value in mine]))
        if len(paradigms) > 1:
            table += [
                _accuracy(phenomenon or "none given", paradigm, [value for other, value in mine if other == paradigm])
                for paradigm in paradigms
            ]
    return tuple(table)


def _accuracy(phenomenon: str, paradigm: str, differences: Sequence[float]) -> Accuracy:
    values = np.asarray(differences, dtype=np.float64)
    ties = np.abs(values) < EQUAL_NATS
    share = float(np.where(ties, 0.5, values > 0).mean())
    low, high = wilson(share, len(values))
    return Accuracy(phenomenon, paradigm, len(values), int(ties.sum()), share, low, high, float(values.mean()))
