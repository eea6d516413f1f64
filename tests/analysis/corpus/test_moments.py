"""Means over queries with intervals over sentences, from sums: against the jackknife, scipy and simulation."""

import numpy as np
import pytest
from scipy import stats

from analysis.corpus.moments import Moments


def drawn(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the queries of each sentence, and how many: some sentences have none."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, (n, 1)).astype(float)
    share = np.clip(rng.normal(0.4, 0.15, (n, 1)), 0, 1)
    return share * counts, counts


def test_sums_of_parts_are_those_of_the_whole() -> None:
    sums, counts = drawn(0)
    moments = Moments.from_sums(sums, counts)
    for n_parts in (1, 3, 17):
        parts = [Moments.from_sums(sums[place::n_parts], counts[place::n_parts]) for place in range(n_parts)]
        added = parts[-1]
        for part in parts[:-1]:
            added = part + added
        for name in ("s", "ss", "sn", "n", "nn", "texts"):
            np.testing.assert_allclose(getattr(added, name), getattr(moments, name), rtol=1e-12)
    # Sentences of a frame are one unit however they are cut into parts.
    sums, counts = drawn(4)
    frames = np.random.default_rng(5).integers(0, 9, len(sums))
    moments = Moments.from_sums(
        *(np.array([element[frames == entry].sum(axis=0) for entry in range(9)]) for element in (sums, counts))
    )
    for n_parts in (1, 4, 30):
        parts = [
            Moments.from_sums(sums[at::n_parts], counts[at::n_parts], frames[at::n_parts]) for at in range(n_parts)
        ]
        added = parts[0]
        for part in parts[1:]:
            added = added + part
        assert not added.closed().frames
        for name in ("means", "variances"):
            np.testing.assert_allclose(getattr(added, name), getattr(moments, name), rtol=1e-12)
        np.testing.assert_allclose(added.intervals(shares=True), moments.intervals(shares=True))


def test_with_one_query_a_sentence_it_is_the_interval_of_a_mean() -> None:
    values = np.random.default_rng(2).normal(3, 1, (50, 1))
    moments = Moments.from_sums(values, np.ones((50, 1)))
    low, high = moments.intervals(shares=False)
    expected = stats.t.interval(0.95, 49, values.mean(), stats.sem(values[:, 0]))
    assert (low[0], high[0]) == pytest.approx(expected)
    # What was never counted is NaN, and what is always so is not certain.
    nothing = Moments.from_sums(np.zeros((5, 1)), np.zeros((5, 1)))
    assert np.isnan(nothing.means).all()
    assert np.isnan(nothing.intervals(shares=True)).all()
    always = Moments.from_sums(np.full((20, 1), 3.0), np.full((20, 1), 3.0))
    low, high = always.intervals(shares=True)
    assert 0.8 < low[0] < 0.9
    assert high[0] == 1.0
    moments = Moments.from_sums(np.array([[2.0]]), np.array([[4.0]]))
    assert (moments.intervals(shares=True)[0][0], moments.intervals(shares=True)[1][0]) == (0.0, 1.0)
    # The variance is near that of the jackknife.
    sums, counts = drawn(1, 200)
    there = counts[:, 0] > 0
    s, n = sums[there, 0], counts[there, 0]
    left_out = (s.sum() - s) / (n.sum() - n)
    jackknife = (len(s) - 1) / len(s) * ((left_out - left_out.mean()) ** 2).sum()
    assert Moments.from_sums(sums, counts).variances[0] == pytest.approx(jackknife, rel=0.03)


@pytest.mark.slow
def test_intervals_cover_the_truth_in_95_of_100_simulations() -> None:
    """The truth is that of all queries: long sentences weigh more, and here they have larger shares."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 12, 100_000).astype(float)
    shares = np.clip(0.02 * counts + rng.normal(0.3, 0.1, len(counts)), 0, 1)
    truth = (shares * counts).sum() / counts.sum()
    covered = 0
    for _ in range(600):
        some = rng.integers(len(counts), size=80)
        low, high = Moments.from_sums((shares * counts)[some, None], counts[some, None]).intervals(shares=True)
        covered += low[0] <= truth <= high[0]
    assert 0.925 <= covered / 600 <= 0.975
