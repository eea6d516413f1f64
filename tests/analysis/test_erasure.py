"""What hiding a word does to a guess: which words can be hidden, the effect in bits, its order."""

import math

import builders
import pytest

from analysis.effects import lost
from analysis.erasure import Erasure, each_hidden, erasable, erasures, ranked
from analysis.words import Unit
from model_zoo.types import Change, Effects, Prediction, Reading

WORDS = [Unit("[CLS]", 0, 1, 0, True), Unit("unbelievable", 1, 4, 0, False), Unit("cat", 4, 5, 0, False)]
GUESS = Prediction("sat", 7, 0.5)
OTHER = Prediction("ran", 8, 0.25)


def reading(p: float, p_of_other: float) -> Reading:
    return Reading(math.log(p), 0, math.log(p_of_other), 0, 0, (OTHER,))


def hidden(*after: tuple[float, float]) -> Effects:
    """What comes of hiding some words: how likely each of the two tokens is then."""
    readings = tuple(reading(*part) for part in after)
    return Effects(builders.encoding(["a"]), builders.info(), 6, GUESS, OTHER, reading(0.5, 0.25), readings)


def test_words_with_a_mask_and_special_tokens_stay() -> None:
    assert [unit.label for unit in erasable(WORDS, [])] == ["unbelievable", "cat"]
    assert [unit.label for unit in erasable(WORDS, [3])] == ["cat"]
    assert erasable(WORDS, [1, 4]) == ()
    assert each_hidden(WORDS[1:]) == (Change(hidden=(1, 2, 3)), Change(hidden=(4,)))
    effects = hidden((0.125, 0.5)), hidden((1.0, 0.125))
    erased = erasures(WORDS[1:], effects, GUESS)
    assert [(entry.before, entry.after) for entry in erased] == [(0.5, pytest.approx(0.125)), (0.5, 1.0)]
    assert [entry.bits for entry in erased] == pytest.approx([2, -1])
    assert lost(hidden((0.125, 0.5), (1.0, 0.125)), "bits") == pytest.approx([2, -1])
    assert erased[0].guess.token == "ran"
    assert [entry.bits for entry in erasures(WORDS[1:], effects, OTHER)] == pytest.approx([-1, 1])
    with pytest.raises(ValueError, match="zip"):
        erasures(WORDS[1:], [], GUESS)
    effects = [Erasure(WORDS[2], 0.5, after, GUESS) for after in (0.4, 1.0, 0.01, 0.5)]
    assert [entry.after for entry in ranked(effects)] == [0.01, 1.0, 0.4, 0.5]
    # A probability that rounds to nothing has an effect that can be drawn.
    assert 50 < Erasure(WORDS[2], 0.5, 0.0, GUESS).bits < 110
