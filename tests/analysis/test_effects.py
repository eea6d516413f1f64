"""What changed runs did to an answer, by numbers known by hand."""

import math
from dataclasses import replace

import builders
import numpy as np
import pytest

from analysis.effects import cut, lost, measured, recovered, same_answer
from analysis.words import Unit
from model_zoo.types import Change, Edge, Effects, Prediction, Reading

CAT, DOG = Prediction("cat", 1, 0.5), Prediction("dog", 2, 0.25)


def reading(p: float, logit: float = 0.0, foil: float | None = 0.0, kl: float = 0.0, best: Prediction = CAT) -> Reading:
    return Reading(math.log(p), logit, None if foil is None else -1.0, foil, kl, (best,))


EFFECTS = Effects(
    builders.encoding(["a"]), builders.info(), 1, CAT, DOG, reading(0.5, 3.0, 1.0),
    (reading(0.25, 2.0, 1.5, math.log(2), DOG), reading(0.5, 3.0, 1.0)), other=reading(0.125, 0.0, 2.0),
)  # fmt: skip


def test_every_measure() -> None:
    first = EFFECTS.readings[0]
    assert measured(first, "bits") == pytest.approx(-2)
    assert measured(first, "probability") == pytest.approx(0.25)
    assert measured(first, "difference") == pytest.approx(0.5)
    assert measured(first, "divergence") == pytest.approx(1)
    assert lost(EFFECTS, "bits") == pytest.approx([1, 0])
    assert lost(EFFECTS, "difference") == pytest.approx([1.5, 0])
    assert lost(EFFECTS, "divergence") == pytest.approx([1, 0])
    assert recovered(EFFECTS, "bits") == pytest.approx([0.5, 0])
    assert recovered(EFFECTS, "difference") == pytest.approx([1.5 / 4, 0])
    assert np.isnan(recovered(replace(EFFECTS, other=EFFECTS.untouched), "bits")).all()
    with pytest.raises(ValueError, match="no other run"):
        recovered(replace(EFFECTS, other=None), "bits")
    assert [same_answer(EFFECTS, reading) for reading in EFFECTS.readings] == [False, True]
    with pytest.raises(ValueError, match="second answer"):
        measured(reading(0.5, foil=None), "difference")


def test_all_tokens_of_two_words_are_cut() -> None:
    entry, two = Unit("a", 1, 2, 0, False), Unit("bc", 2, 4, 0, False)
    assert cut([(entry, two)]) == Change(edges=(Edge(1, 2), Edge(1, 3)))
    assert cut([(two, entry), (entry, entry)], 5, 0) == Change(
        edges=(Edge(2, 1, 5, 0), Edge(3, 1, 5, 0), Edge(1, 1, 5, 0))
    )
