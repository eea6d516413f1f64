"""The exact paired test, beside scipy's tests, all sign flips in whole numbers, and its own rate of false alarms."""

from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from analysis.paired import paired_p, pairwise_p, sign_flip_p


def share_of_flips(differences: list[int]) -> float:
    """The same share, counted in whole numbers of any size."""
    ways = {0: 1}
    for size in map(abs, differences):
        flipped: dict[int, int] = {}
        for total, count in ways.items():
            for signed in (total + size, total - size):
                flipped[signed] = flipped.get(signed, 0) + count
        ways = flipped
    reached = sum(count for total, count in ways.items() if total >= sum(differences))
    return float(Fraction(reached, sum(ways.values())))


@pytest.mark.parametrize(("n", "better"), [(51, 33), (5, 5), (1, 0), (40, 20), (7000, 3600), (900, 880)])
def test_differences_of_one_item_are_the_sign_test(n: int, better: int) -> None:
    a, units = np.arange(n) < better, np.arange(n)
    of_one = stats.binomtest(better, n, alternative="greater").pvalue
    assert paired_p(a, ~a, units, one_sided=True) == pytest.approx(of_one, rel=1e-9)
    assert paired_p(a, ~a, units) == pytest.approx(stats.binomtest(better, n).pvalue, rel=1e-9)
    if n == 51:
        assert round(of_one, 4) == 0.0244


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_differences_of_any_size_are_those_of_every_flip(alternative: Literal["greater", "two-sided"]) -> None:
    rng, one_sided = np.random.default_rng(0), alternative == "greater"
    for _ in range(40):
        differences = rng.integers(-6, 8, size=rng.integers(2, 12))
        expected = stats.permutation_test(
            (differences,), np.sum, permutation_type="samples", alternative=alternative, n_resamples=np.inf
        ).pvalue
        assert sign_flip_p(differences, one_sided=one_sided) == pytest.approx(expected, rel=1e-12)
    for differences in (rng.integers(-9, 12, size=500), np.repeat([1, -1, 3, -40], [700, 50, 90, 3])):
        expected = share_of_flips(differences.tolist()) * (1 if one_sided else 2)  # their sums are far above 0
        assert sign_flip_p(differences, one_sided=one_sided) == pytest.approx(expected, rel=1e-9)


def test_items_of_a_unit_change_sign_together() -> None:
    right, wrong = np.ones(10, dtype=bool), np.zeros(10, dtype=bool)
    assert paired_p(right, wrong, np.arange(10) // 2) == 2 / 32  # five texts of two words
    assert paired_p(right, wrong, np.zeros(10, dtype=np.int64)) == 1  # one text with ten words
    assert paired_p(right, wrong, np.zeros(10, dtype=np.int64), one_sided=True) == 0.5
    assert paired_p(wrong, right, np.arange(10), one_sided=True) == 1
    assert paired_p(right, right, np.arange(10)) == paired_p(right, right, np.arange(10), one_sided=True) == 1
    assert pairwise_p([right, wrong, right], np.arange(10)) == (
        (1, 2 / 1024, 1),
        (2 / 1024, 1, 2 / 1024),
        (1, 2 / 1024, 1),
    )


def test_classifiers_that_are_equally_good_differ_at_the_rate_of_the_level() -> None:
    rng = np.random.default_rng(0)
    drawn = [paired_p(rng.random(200) < 0.6, rng.random(200) < 0.6, np.arange(200)) for _ in range(1000)]
    assert 0.025 < np.mean(np.array(drawn) < 0.05) <= 0.05  # steps of the exact test keep it below
