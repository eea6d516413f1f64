"""Intervals: Wilson's by its definition, the jackknife by hand, and that 95% of them hold what is true."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.intervals import Spread, interval, left_out, mean_spread, of_right, share_intervals, wilson


def test_wilsons_ends_are_where_a_test_would_just_reject() -> None:
    # The two ends p are where a test of p would just reject the observed share: (s - p)² = z² p (1 - p) / n.
    for share, n in ((0.5, 300), (0.42, 1000), (0.0, 10), (1.0, 10)):
        low, high = wilson(share, n)
        for p in (low, high):
            if 0 < p < 1:
                assert (share - p) ** 2 == pytest.approx(1.959964**2 * p * (1 - p) / n)
        assert 0 <= low <= share + 1e-12
        assert share - 1e-12 <= high <= 1
    assert wilson(0.5, 300) == pytest.approx((0.4438, 0.5562), abs=1e-4)
    assert wilson(1.0, 24) == pytest.approx((0.862, 1), abs=1e-3)


def test_leaving_out_gives_the_standard_error_of_a_mean() -> None:
    values = np.array([1.0, 4.0, 2.0, 9.0])
    without = (values.sum() - values) / 3
    assert left_out(without).variance == pytest.approx(values.var(ddof=1) / 4)
    assert mean_spread(values).variance == pytest.approx(left_out(without).variance)
    # Spreads add up and few seeds make wide intervals.
    items = Spread(0.001, 40)
    narrow, alone = interval(0.7, [items], 40), interval(0.7, [items, Spread(0.0, 5)], 40)
    assert alone == pytest.approx(narrow)
    wide = interval(0.7, [items, Spread(0.001, 3)], 40)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    # Right items of one cluster are left out together.
    right = np.arange(30) % 4 > 0
    alone = of_right(right, np.arange(30))
    assert alone == interval(right.mean(), [left_out((right.sum() - right) / 29)], 30)
    # Five words of each sentence, which are always right together, are worth no more than one.
    assert of_right(np.repeat(right, 5), np.repeat(np.arange(30), 5)) == pytest.approx(alone)
    # All right, in 24 sentences of two words: as sure as 24 items make it, not certain.
    assert of_right(np.ones(48, dtype=bool), np.repeat(np.arange(24), 2)) == wilson(1.0, 24)
    assert of_right(right, np.zeros(30)) == (0, 1)


def test_a_share_gets_students_t_on_the_log_odds() -> None:
    low, high = interval(0.8, [Spread(0.0025, 21)], 100)
    reach = stats.t.ppf(0.975, 20) * 0.05 / (0.8 * 0.2)
    assert [math.log(end / (1 - end)) for end in (low, high)] == pytest.approx(
        [math.log(4) - reach, math.log(4) + reach]
    )
    # A correlation gets Fisher's z, whose standard error is 1 / sqrt(n) where that of r is (1 - r²) / sqrt(n).
    n, r = 400, 0.6
    low, high = interval(r, [Spread((1 - r**2) ** 2 / n, n)], n, lowest=-1.0)
    reach = stats.t.ppf(0.975, n - 1) / math.sqrt(n)
    assert [math.atanh(end) for end in (low, high)] == pytest.approx([math.atanh(r) - reach, math.atanh(r) + reach])
    # At the ends and where nothing varies.
    assert interval(1.0, [Spread(0.0, 24)], 24) == wilson(1.0, 24)
    assert interval(0.0, [Spread(0.0, 24)], 24) == wilson(0.0, 24)
    assert interval(1.0, [Spread(0.0, 60)], 60, lowest=-1.0)[0] == pytest.approx(2 * wilson(1.0, 60)[0] - 1)
    assert interval(0.5, [Spread(0.0, 20)], 20) == pytest.approx((0.5, 0.5))  # each group has one of each
    assert interval(0.7, [Spread(0.0, 1)], 1) == (0, 1)


@pytest.mark.parametrize(("n", "part"), [(24, 1), (120, 1), (20, 6), (40, 4), (10, 6)])
@pytest.mark.parametrize("share", [0.5, 0.88, 0.98])
def test_they_hold_the_true_share(n: int, part: int, share: float) -> None:
    """Of ``n`` groups of so many items that are alike: right with a probability that differs from group to group."""
    rng, repeats, alike = np.random.default_rng(n), 300, 0.2
    chances = rng.beta(share * (1 / alike - 1), (1 - share) * (1 / alike - 1), size=(repeats, n))
    right = rng.binomial(part, chances if part > 1 else share, size=(repeats, n))
    without = (right.sum(axis=1, keepdims=True) - right) / ((n - 1) * part)
    held = 0
    for counts, rest in zip(right, without, strict=True):
        low, high = interval(float(counts.sum() / (n * part)), [left_out(rest)], n)
        held += low <= share <= high
    assert held / repeats >= 0.92


def test_intervals_of_many_shares_are_those_of_each() -> None:
    rng = np.random.default_rng(8)
    values = np.concatenate([rng.random(50), [0.0, 1.0, 0.5, np.nan, 1.0]])
    variances = np.concatenate([rng.random(50) * 0.01, [0.0, 0.0, 0.01, np.nan, 0.0]])
    n = np.concatenate([rng.integers(2, 100, 50), [30, 30, 1, 0, 7]])
    low, high = share_intervals(values, variances, n)
    for place, (value, variance, parts) in enumerate(zip(values, variances, n, strict=True)):
        if np.isnan(value):
            assert np.isnan(low[place])
            continue
        expected = interval(float(value), [Spread(float(variance), int(parts))], int(parts))
        assert (low[place], high[place]) == pytest.approx(expected, abs=1e-9)
