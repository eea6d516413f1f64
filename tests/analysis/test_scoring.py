"""Surprisal, pseudo-perplexity, cross-entropy and softmax against numbers worked out by hand."""

import math

import builders
import numpy as np
import pytest

from analysis import scoring
from analysis.words import Unit
from model_zoo.types import MaskPrediction, Prediction, Preference, TokenScores


def scores(probabilities: list[float]) -> TokenScores:
    logs = np.log(np.array(probabilities, dtype=np.float32))
    n = len(probabilities)
    return TokenScores(builders.anonymous(n), builders.info(mlm=True), logs, (None,) * n)


def test_pseudo_perplexity_by_hand() -> None:
    assert scoring.bits(math.log(1 / 8)) == pytest.approx(3)
    actual = scores([math.nan, 0.5, 0.25, 0.125, math.nan])
    assert actual.n_scored == 3
    assert actual.log_likelihood == pytest.approx(-6 * math.log(2), abs=1e-6)
    assert scoring.perplexity(actual) == pytest.approx(4, abs=1e-5)  # 2 to the power of (1 + 2 + 3) / 3
    assert scoring.perplexity(scores([1.0, 1.0])) == 1
    assert math.isnan(scoring.perplexity(scores([math.nan])))
    units = [Unit("a", 0, 1, 0, False), Unit("bc", 1, 3, 0, False), Unit("[SEP]", 3, 4, 0, True)]
    actual = scoring.unit_bits(scores([0.5, 0.25, 0.125, math.nan]), units)
    np.testing.assert_allclose(actual, [1, 5, math.nan], atol=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "better"),
    [(-3.0, -3.0, None), (-3.004, -3.0, None), (-3.0, -3.006, "A"), (-3.006, -3.0, "B"), (-1.0, -9.0, "A")],
)
def test_texts_that_differ_by_less_than_is_shown_are_a_tie(a: float, b: float, better: str | None) -> None:
    assert Preference(scores([math.exp(a)]), scores([math.exp(b)])).better == better


def answer(probabilities: dict[str, float], original: str, log_total: float = 2.0) -> MaskPrediction:
    best = tuple(Prediction(token, place, p) for place, (token, p) in enumerate(probabilities.items()))
    right = next(entry for entry in best if entry.token == original)
    return MaskPrediction(1, best, log_total, right, right.id + 1, math.log(right.probability))


def test_cross_entropy_is_the_mean_loss() -> None:
    answers = [answer({"a": 0.5, "b": 0.25}, "a"), answer({"a": 0.5, "b": 0.25}, "b")]
    assert scoring.cross_entropy(answers) == pytest.approx(1.5 * math.log(2))
    assert math.isnan(scoring.cross_entropy([]))
    rows = scoring.softmax_by_hand(answer({"a": 0.5, "b": 0.2, "c": 0.1, "d": 0.05}, "d"), 100, top=2)
    assert [row.label for row in rows] == ["a", "b", "d", "all others"]
    assert [row.probability for row in rows] == pytest.approx([0.5, 0.2, 0.05, 0.25])
    assert rows[-1].n == 97
    assert rows[0].logit == pytest.approx(math.log(0.5) + 2)
    assert rows[0].exponential == pytest.approx(1)
    assert rows[1].exponential == pytest.approx(math.exp(rows[1].logit - rows[0].logit))
    total = sum(row.exponential for row in rows)
    assert [row.exponential / total for row in rows] == pytest.approx([row.probability for row in rows])
    assert [row.is_original for row in rows] == [False, False, True, False]
