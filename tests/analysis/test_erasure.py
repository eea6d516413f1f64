"""What hiding a word does to a guess: which words can be hidden, the effect in bits, its order."""

from __future__ import annotations

import pytest

from analysis.erasure import Erasure, erasable, erasures, ranked
from analysis.words import Unit
from model_zoo.types import MaskPrediction, Prediction, Target

WORDS = [Unit("[CLS]", 0, 1, 0, True), Unit("unbelievable", 1, 4, 0, False), Unit("cat", 4, 5, 0, False)]
GUESS = Prediction("sat", 7, 0.5)


def answer(position: int, probability: float) -> MaskPrediction:
    target = Target("sat", "sat", 7, probability, 0.0, 1)
    other = Target("ran", "ran", 8, 0.9, 0.0, 1)
    return MaskPrediction(position, (Prediction("ran", 8, 0.9),), 0.0, targets=(other, target))


def test_words_with_a_mask_and_special_tokens_stay() -> None:
    assert [unit.label for unit in erasable(WORDS, [])] == ["unbelievable", "cat"]
    assert [unit.label for unit in erasable(WORDS, [3])] == ["cat"]
    assert erasable(WORDS, [1, 4]) == ()


def test_the_effect_is_that_on_one_token_at_one_mask() -> None:
    found = erasures(WORDS[1:], [[answer(1, 0.9), answer(6, 0.125)], [answer(4, 0.2), answer(6, 1.0)]], 6, GUESS)
    assert [(one.before, one.after) for one in found] == [(0.5, 0.125), (0.5, 1.0)]
    assert [one.bits for one in found] == [2, -1]
    assert found[0].guess.token == "ran"
    with pytest.raises(ValueError, match="zip"):
        erasures(WORDS[1:], [], 6, GUESS)


def test_the_largest_effects_come_first_whatever_their_direction() -> None:
    effects = [Erasure(WORDS[2], 0.5, after, GUESS) for after in (0.4, 1.0, 0.01, 0.5)]
    assert [one.after for one in ranked(effects)] == [0.01, 1.0, 0.4, 0.5]


def test_a_probability_that_rounds_to_nothing_has_an_effect_that_can_be_drawn() -> None:
    assert 50 < Erasure(WORDS[2], 0.5, 0.0, GUESS).bits < 110
