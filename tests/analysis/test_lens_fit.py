"""A lens's fit: an affine function is found again, ridge by other formulas, and means with intervals over texts."""

import numpy as np
import pytest
from scipy import stats

from analysis import lens_fit
from model_zoo.errors import NotSupported
from model_zoo.types import DoubleArray, FittedLens, FloatArray, IntArray, LensDistances


def states(n: int = 240, width: int = 6, seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Vectors of n masks, four a text, with axes of different sizes and a mean of their own."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, width)) * np.linspace(0.5, 2, width) + rng.normal(size=width)
    return vectors.astype(np.float32), np.arange(n) // 4


def through(vectors: FloatArray, change: DoubleArray) -> DoubleArray:
    return vectors + vectors @ change[:-1] + change[-1]


def test_an_affine_function_is_found_again() -> None:
    vectors, text_of = states()
    rng = np.random.default_rng(1)
    matrix, shift = rng.normal(size=(6, 6)), rng.normal(size=6)
    change = lens_fit.fit(vectors, (vectors @ matrix + shift).astype(np.float32), text_of)
    np.testing.assert_allclose(change[:-1] + np.eye(6), matrix, atol=2e-3)
    other, _ = states(seed=2)
    np.testing.assert_allclose(through(other, change), other @ matrix + shift, atol=5e-3)
    # Vectors that are all the same give the mean.
    vectors = np.ones((20, 3), dtype=np.float32)
    target = np.random.default_rng(5).normal(size=(20, 3)).astype(np.float32)
    change = lens_fit.fit(vectors, target, np.arange(20))
    np.testing.assert_allclose(through(vectors, change), np.tile(target.mean(axis=0), (20, 1)), atol=1e-6)


@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_the_ridge_is_that_of_the_augmented_equations(penalty: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Least squares over the masks and a row a dimension for the ridge, which leaves the shift alone."""
    monkeypatch.setattr(lens_fit, "PENALTIES", (penalty,))
    vectors, text_of = states()
    target = np.random.default_rng(3).normal(size=vectors.shape).astype(np.float32)
    unit = vectors.var(axis=0, dtype=np.float64).mean() * len(vectors)
    ones = np.ones((len(vectors), 1))
    rows = np.vstack([np.hstack([vectors, ones]), np.hstack([np.sqrt(penalty * unit) * np.eye(6), np.zeros((6, 1))])])
    wanted = np.vstack([target.astype(np.float64) - vectors, np.zeros((6, 6))])
    expected, *_ = np.linalg.lstsq(rows, wanted)
    np.testing.assert_allclose(lens_fit.fit(vectors, target, text_of), expected, atol=1e-6)


def test_the_ridge_is_chosen_by_texts_that_it_was_not_fitted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the target is noise, a strong ridge; where it is a function of the vectors, a weak one."""
    vectors, text_of = states(60)
    noise = vectors + np.random.default_rng(4).normal(size=vectors.shape).astype(np.float32)
    exact = 2 * vectors
    for target, likely in ((noise, lens_fit.PENALTIES[-3:]), (exact, lens_fit.PENALTIES[:3])):
        actual, alone = lens_fit.fit(vectors, target, text_of), []
        for penalty in likely:
            with monkeypatch.context() as patch:
                patch.setattr(lens_fit, "PENALTIES", (penalty,))
                alone.append(lens_fit.fit(vectors, target, text_of))
        assert any(np.array_equal(actual, entry) for entry in alone)


def test_a_fit_to_shuffled_targets_is_no_better_than_their_mean() -> None:
    vectors, text_of = states(4000)
    target = (vectors @ np.random.default_rng(6).normal(size=(6, 6))).astype(np.float32)
    change = lens_fit.fit(vectors[:2000], np.random.default_rng(7).permutation(target[:2000]), text_of[:2000])
    error = ((through(vectors[2000:], change) - target[2000:]) ** 2).mean()
    assert error >= 0.96 * ((target[:2000].mean(axis=0) - target[2000:]) ** 2).mean()
    mine = lens_fit.fit(vectors[:2000], target[:2000], text_of[:2000])
    assert ((through(vectors[2000:], mine) - target[2000:]) ** 2).mean() < 1e-3 * error


LENS = FittedLens.from_changes("m", "r", 8, np.zeros((2, 4, 3)), np.zeros(3))


def distances(repeated: int = 1) -> LensDistances:
    rng = np.random.default_rng(8)
    logit, fitted, average = rng.gamma(4, size=(2, 60)), rng.gamma(2, size=(2, 60)), rng.gamma(3, size=60)
    every = [np.repeat(part, repeated, axis=-1).astype(np.float32) for part in (logit, fitted, average)]
    return LensDistances(every[0], np.repeat(np.arange(60), repeated), *every[1:])


def test_means_and_their_intervals() -> None:
    actual = lens_fit.judged(LENS, distances())
    assert (actual.n_masks, actual.n_texts) == (60, 60)
    raw = distances()
    for inputs, mine in ((raw.logit, actual.logit), (raw.fitted, actual.fitted), ([raw.average], [actual.average])):
        for row, entry in zip(inputs, mine, strict=True):
            assert entry.mean == pytest.approx(float(np.mean(row)), abs=1e-6)
            reach = 1.96 * float(np.std(row)) / np.sqrt(60)  # of a mean of many, which is nearly normal
            assert entry.low == pytest.approx(entry.mean - reach, abs=0.35 * reach)
            assert entry.high == pytest.approx(entry.mean + reach, abs=0.35 * reach)
    # The same mask four times in a text tells no more than once.
    once, often = lens_fit.judged(LENS, distances()), lens_fit.judged(LENS, distances(4))
    assert (often.n_masks, often.n_texts) == (240, 60)
    assert often.logit[0].high - often.logit[0].low == pytest.approx(once.logit[0].high - once.logit[0].low, rel=1e-5)


def test_intervals_are_over_subjects_where_there_are_any() -> None:
    """Six subjects that differ: over 60 texts as if independent the interval is less than half as wide."""
    actual = distances()
    shift = np.arange(6).repeat(10).astype(np.float32)
    apart = LensDistances(actual.logit + shift, actual.text_of, actual.fitted, actual.average)
    of_texts = lens_fit.judged(LENS, apart)
    of_subjects = lens_fit.judged(LENS, apart, np.arange(6).repeat(10).tolist())
    assert (of_texts.n_units, of_subjects.n_units) == (60, 6)
    for entry, other in zip(of_subjects.logit, of_texts.logit, strict=True):
        assert entry.mean == other.mean
        means = (actual.logit[of_subjects.logit.index(entry)] + shift).reshape(6, 10).mean(axis=1)
        expected = stats.t.interval(0.95, 5, means.mean(), stats.sem(means))
        assert (entry.low, entry.high) == pytest.approx((max(0.0, expected[0]), expected[1]), rel=1e-4)
        assert entry.high - entry.low > 2 * (other.high - other.low)


def test_a_lens_holds_its_arrays_and_says_what_it_is() -> None:
    changes = np.random.default_rng(9).normal(size=(2, 4, 3))
    lens = FittedLens.from_changes("m", "r", 8, changes, np.arange(3))
    assert (lens.n_layers, lens.width) == (2, 3)
    actual, average = lens.arrays()
    np.testing.assert_allclose(actual, changes, rtol=1e-3)
    assert average.tolist() == [0, 1, 2]
    assert repr(lens) == "<FittedLens of m: 2 layers, width 3, fitted on 8 masks>"
    with pytest.raises(NotSupported, match="numbers that are too large"):
        FittedLens.from_changes("m", "r", 8, changes * 1e6, np.arange(3))
    with pytest.raises(ValueError, match="bytes a layer"):
        FittedLens("m", "r", 4, 8, lens.changes, lens.average)
    with pytest.raises(ValueError, match="no fitted lens"):
        lens_fit.judged(LENS, LensDistances(distances().logit, distances().text_of))
