"""Rankings of words and what hiding them does, by hand and against scipy."""

import math

import builders
import numpy as np
import pytest
from scipy.stats import kendalltau

from analysis import explanations
from analysis.words import Unit, word_units
from model_zoo.types import Attribution, Prediction

CAT = Prediction("cat", 1, 0.5)


def test_a_word_has_what_its_tokens_have_together() -> None:
    encoding = builders.encoding(["un", "##known", "cat"])
    scores = np.array([0, 1, 2, -0.5, 0], dtype=np.float32)
    actual = Attribution(
        encoding=encoding, model=builders.info(), method="attention", measure="log P", position=None, answer=CAT,
        foil=None, scores=scores, counted=(1, 2, 3),
    )  # fmt: skip
    units = [unit for unit in word_units(encoding) if not unit.special]
    assert explanations.by_word(actual, units).tolist() == [3, -0.5]
    with pytest.raises(ValueError, match="read-only"):
        actual.scores[0] = 1
    # A mark by itself is no word.
    encoding = builders.encoding(["don't", ",", "3", "%", "“", "été", "."])
    units = [unit for unit in word_units(encoding) if not unit.special]
    assert explanations.ranked_words(units) == (0, 2, 5)


def test_words_go_and_come_in_the_order_of_their_scores() -> None:
    ranked = explanations.order([0.1, 3.0, 0.1, -2.0])
    assert ranked == (1, 0, 2, 3)
    assert explanations.steps(ranked, "deletion") == [(), (1,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
    assert explanations.steps(ranked, "insertion") == [(0, 1, 2, 3), (0, 2, 3), (2, 3), (3,), ()]
    assert explanations.needed([(1, 0), (0, 1)]) == [(), (0,), (1,), (0, 1)]
    drawn = explanations.random_orders(5, 3)
    assert drawn == explanations.random_orders(5, 3)
    assert all(sorted(entry) == list(range(5)) for entry in drawn)
    probabilities = {(): 0.8, (0,): 0.4, (1,): 0.8, (0, 1): 0.08}
    deletion = explanations.curve((0, 1), "deletion", probabilities)
    assert deletion == pytest.approx([1, 0.5, 0.1])
    assert explanations.area(deletion) == pytest.approx((0.75 + 0.3) / 2)
    insertion = explanations.curve((0, 1), "insertion", probabilities)
    assert insertion == pytest.approx([0.1, 1, 1])
    assert explanations.area(insertion) == pytest.approx((0.55 + 1) / 2)
    worse = explanations.curve((1, 0), "deletion", probabilities)
    assert explanations.area(worse) > explanations.area(deletion)
    words = [Unit(str(at), start, stop, 0, False) for at, (start, stop) in
             enumerate([(1, 2), (2, 3), (3, 5), (5, 6), (7, 8), (8, 9)])]  # fmt: skip
    near = explanations.nearness(words, 6)
    assert near.tolist() == [-4, -3, -2, -1, -1, -2]
    assert explanations.order(near) == (3, 4, 2, 5, 1, 0)  # of two equally far the earlier one
    assert explanations.order(explanations.nearness(words, 9)) == (5, 4, 3, 2, 1, 0)


def test_tau_is_scipys() -> None:
    rng = np.random.default_rng(0)
    rankings = [rng.normal(size=7) for _ in range(3)] + [np.arange(7.0), -np.arange(7.0), np.ones(7)]
    actual = explanations.kendall(rankings)
    for i, a in enumerate(rankings[:5]):
        for j, b in enumerate(rankings[:5]):
            assert actual[i, j] == pytest.approx(kendalltau(a, b).statistic)
    assert actual[3, 4] == -1
    assert np.isnan(actual[5, 0])
    pairs = [(x, y) for x in range(7) for y in range(x)]
    signs = [np.sign((rankings[0][x] - rankings[0][y]) * (rankings[1][x] - rankings[1][y])) for x, y in pairs]
    assert actual[0, 1] == pytest.approx(sum(signs) / len(pairs))  # without ties


def test_areas_are_set_against_the_baselines_of_the_same_sentences() -> None:
    """Sentences differ much more than methods do, so a small difference is seen in pairs alone."""
    base = np.linspace(0.1, 0.9, 30)
    actual: list[dict[tuple[str, explanations.Way], float]] = [
        {("m", "deletion"): float(area - 0.1 + 0.05 * (at % 3 - 1)), ("near", "deletion"): float(area)}
        for at, area in enumerate(base)
    ]
    best, near = explanations.areas([*actual, {("near", "deletion"): 0.5}], "near")
    assert (best.method, near.method, near.above) == ("m", "near", None)
    assert (best.n, near.n) == (30, 31)
    assert best.median == pytest.approx(np.median([part["m", "deletion"] for part in actual]))
    assert best.above.value == pytest.approx(-0.1)
    assert best.above.low > -0.12
    assert best.above.high < -0.08
    assert near.mean.low < best.mean.high  # unpaired, nothing would be seen
    assert f"{explanations.Mean(-0.1, -0.12, 0.08):+.2f}" == "−0.10 (−0.12 to +0.08)"


def test_a_few_sentences_of_low_probability_make_the_mean_and_no_more() -> None:
    """In two of ten sentences P rises tenfold; in the others the method does a little worse than the baseline."""
    actual: list[dict[tuple[str, explanations.Way], float]] = [
        {("m", "insertion"): area, ("near", "insertion"): 0.5, ("m", "deletion"): 0.2, ("near", "deletion"): 0.3}
        for area in [10.0, 10.0, *[0.4] * 7, 0.5]
    ]
    table = {(entry.method, entry.way): entry for entry in explanations.areas(actual, "near")}
    inserted, near, deleted = (table[key] for key in (("m", "insertion"), ("near", "insertion"), ("m", "deletion")))
    assert inserted.mean.value == pytest.approx(2.33)
    assert (inserted.median, inserted.exceeds_one, near.exceeds_one) == (pytest.approx(0.4), pytest.approx(0.2), 0)
    assert inserted.above.value == pytest.approx(1.83)
    assert inserted.better.value == pytest.approx(0.25)  # two of ten, and an equal one as half
    assert f"{inserted.better:.0%}".startswith("25% (")
    assert deleted.better.value == 1  # less is better
    assert near.better is None


def test_intervals_hold_the_mean_and_shrink() -> None:
    rng = np.random.default_rng(1)
    few, many = (explanations.mean(rng.normal(0.5, 0.1, n)) for n in (10, 1000))
    assert few.low < few.value < few.high
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.1 / math.sqrt(1000), rel=0.15)
    assert few.high - few.low > 3 * (many.high - many.low)
    with pytest.raises(ValueError, match="no value"):
        explanations.mean([])
