"""Numbers about heads that are off, by hand and against scipy: means, intervals over clusters, correlations, curves."""

import numpy as np
import pytest
from scipy import stats

from analysis.corpus import importance
from analysis.corpus.importance import Curve, Mean, mean_of
from analysis.ranks import spearman


def test_of_independent_items_it_is_students_t() -> None:
    values = np.random.default_rng(0).normal(0.3, 1, 40)
    mean = mean_of(values, np.arange(40))
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert (mean.value, mean.low, mean.high) == pytest.approx((values.mean(), low, high))
    assert (mean.n, mean.n_clusters) == (40, 40)
    # What is NaN is not counted and one cluster says nothing.
    mean = mean_of([1.0, np.nan, 3.0], [4, 5, 4])
    assert (mean.value, mean.n, mean.n_clusters) == (2.0, 2, 1)
    assert np.isnan([mean.low, mean.high]).all()
    assert mean_of([np.nan], [0]).n == 0
    # Each item ten times over in its cluster: the same interval, not one a third as wide.
    values = np.random.default_rng(1).normal(size=30)
    once = mean_of(values, np.arange(30))
    often = mean_of(np.repeat(values, 10), np.repeat(np.arange(30), 10))
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_intervals_cover_what_is_true(share: float) -> None:
    """400 corpora of 40 sentences with one to five items each, which are alike within a sentence."""
    rng = np.random.default_rng(2)
    covered = {"mean": 0, "share": 0}
    for _ in range(400):
        clusters = np.repeat(np.arange(40), rng.integers(1, 6, 40))
        of_sentence = rng.normal(-0.2, 0.3, 40)[clusters]
        values = of_sentence + rng.normal(0, 0.3, len(clusters))
        mean = mean_of(values, clusters)
        covered["mean"] += mean.low <= -0.2 <= mean.high
        kept = rng.random(40) < share
        right = np.where(rng.random(len(clusters)) < 0.5, kept[clusters], rng.random(len(clusters)) < share)
        mean = importance.share_of(right, clusters)
        covered["share"] += mean.low <= share <= mean.high
    assert 0.92 < covered["mean"] / 400 < 0.98
    assert 0.92 < covered["share"] / 400 < 0.98


def test_the_heads_that_one_is_compared_with() -> None:
    head, *others, complete = importance.compared_sets((2, 5), 12)
    assert head == ((2, 5),)
    assert len(others) == len(set(others)) == importance.MOST_OTHERS
    assert all(len(other) == 1 and other[0][0] == 2 and other[0][1] != 5 for other in others)
    assert complete == tuple((2, other) for other in range(12))
    assert importance.compared_sets((2, 5), 12) == importance.compared_sets((2, 5), 12)
    head, *others, complete = importance.compared_sets((0, 1), 4)
    assert others == [((0, 0),), ((0, 2),), ((0, 3),)]
    assert importance.points(8).tolist() == list(range(9))
    for n in (72, 144, 25):
        counts = importance.points(n)
        assert (counts[0], counts[-1]) == (0, n)
        assert len(counts) <= importance.MOST_POINTS + 1

    def curve(*values: float) -> Curve:
        return Curve("one", tuple(range(len(values))), tuple(Mean(value, 0, 1, 9, 9) for value in values))

    averaged = importance.together("at random", [curve(0.9, 0.5, 0.1), curve(0.9, 0.7)])
    assert averaged.counts == (0, 1)
    assert [(score.value, score.low, score.high) for score in averaged.scores] == [(0.9, 0.9, 0.9), (0.6, 0.5, 0.7)]


def test_one_head_that_matters() -> None:
    """Head 1 of four lowers ln P by 1, head 3 raises it by 2, and the others move it by nearly nothing."""
    rng = np.random.default_rng(3)
    sets = importance.compared_sets((0, 1), 4)
    base = rng.normal(-3, 1, 50)
    lost = {(0, 0): 0.0, (0, 1): -1.0, (0, 2): 0.01, (0, 3): 2.0}
    rows = [base, *(base + sum(lost[head] for head in heads) + rng.normal(0, 0.1, 50) for heads in sets)]
    scores = np.array(rows, dtype=np.float32)
    comparison = importance.compare_head(scores, (scores > -3).astype(np.float32), np.arange(50), sets)
    assert comparison.all_others
    assert comparison.head.change.value == pytest.approx(-1, abs=0.05)
    assert comparison.clear
    assert comparison.n_as_much == 0  # head 3 moves it the other way
    assert [entry.heads for entry in comparison.others] == [((0, 0),), ((0, 2),), ((0, 3),)]
    assert comparison.layer.change.value == pytest.approx(1.01, abs=0.1)
    assert comparison.right.value == pytest.approx(np.mean(base > -3))
    other = importance.compare_head(scores[[0, 2, 1, 3, 4, 5]], (scores > -3).astype(np.float32), np.arange(50), sets)
    assert not other.clear
    assert other.n_as_much >= 1
    scores = np.array([[0, 0], [1, 3]], dtype=np.float32)
    (actual,) = importance.effects(scores, np.array([[0, 0], [0, 1]]), [0, 1], (((0, 0), (0, 1)),))
    assert actual.heads == ((0, 0), (0, 1))
    assert (actual.change.value, actual.right.value) == (2, 0.5)


def test_spearman_is_scipys() -> None:
    rng = np.random.default_rng(4)
    entry, other = rng.integers(0, 9, 50), rng.normal(size=50)
    assert spearman(entry, other) == pytest.approx(stats.spearmanr(entry, other).statistic)
    assert np.isnan(spearman(entry, np.zeros(50)))
    # A share stays between its ends.
    share = importance.share_of(np.ones(20), np.arange(20))
    assert share.high == 1
    assert 0.8 < share.low < 0.9


def test_gradients_that_predict_what_happens() -> None:
    """To first order the estimate is the change; importance counts the size alone."""
    rng = np.random.default_rng(5)
    strength = rng.normal(size=24)
    gradients = (strength + rng.normal(0, 2, (60, 24))).reshape(60, 4, 6).astype(np.float32)
    scores = np.concatenate([np.zeros((1, 60)), -gradients.reshape(60, 24).T]).astype(np.float32)
    clusters = np.arange(60)
    estimates = importance.gradient_estimates(gradients, scores, clusters)
    size, estimate, change = (
        np.array([entry.value for entry in part])
        for part in (estimates.importance, estimates.estimate, estimates.change)
    )
    np.testing.assert_allclose(estimate, change, atol=1e-5)
    assert estimates.by_estimate.value == pytest.approx(1)
    np.testing.assert_allclose(size.reshape(4, 6), np.abs(gradients).mean(axis=0), atol=1e-5)
    assert all(entry.low < entry.value < entry.high for entry in estimates.importance)
    expected = stats.spearmanr(size, -change).statistic
    assert estimates.by_importance.value == pytest.approx(expected)
    assert -1 <= estimates.by_importance.low <= expected <= estimates.by_importance.high <= 1
    gradients[7] = np.nan
    assert importance.gradient_estimates(gradients, scores, clusters).by_estimate.n == 59
