"""Medians, quartiles, growth of measured costs, by hand."""

import builders
import numpy as np
import pytest

from analysis.latency import Latency, ModelCost, doubling, frame, latencies, spread
from model_zoo.types import CostSample, CostSubject, Quality


def sample(seconds: float, *, model: str = "a", n: int = 16, round_: int = 1, peak: int | None = None) -> CostSample:
    return CostSample(
        model=model, n_tokens=n, n_words=n // 2, round=round_, seconds=seconds, peak_bytes=peak, share=0.5
    )


def at(n: int, median: float) -> Latency:
    return Latency(model="a", n_tokens=n, n_words=n // 2, n=3, median=median, low=median, high=median, peak_bytes=None)


def test_median_and_quartiles_by_hand_without_the_warm_up() -> None:
    seconds = [5.0, 1.0, 3.0, 2.0, 4.0]
    samples = [sample(99.0, round_=0), *(sample(s, round_=place + 1) for place, s in enumerate(seconds))]
    (actual,) = latencies(samples)["a"]
    assert (actual.low, actual.median, actual.high, actual.n) == (2.0, 3.0, 4.0, 5)
    assert actual.tokens_per_second == pytest.approx(16 / 3)
    assert actual.words_per_second == pytest.approx(8 / 3)
    assert actual.peak_bytes is None
    # Models keep their order and lengths are sorted.
    of_b = [sample(2.0, model="b", n=32, peak=peak, round_=at) for at, peak in enumerate((10, 30, 20), start=1)]
    actual = latencies([sample(4.0, model="b", n=64), sample(1.0), *of_b])
    assert list(actual) == ["b", "a"]
    assert [latency.n_tokens for latency in actual["b"]] == [32, 64]
    assert actual["b"][0].peak_bytes == 20
    assert latencies([sample(1.0, round_=0)]) == {}


def test_doubling_is_two_for_a_line_and_four_for_a_square() -> None:
    assert doubling([at(128, 9.0), at(256, 1.0), at(512, 2.0)]) == pytest.approx(2.0)
    assert doubling([at(256, 1.0), at(512, 4.0)]) == pytest.approx(4.0)
    # A square over lengths that do not double: (300 / 100)² = 9 times as long.
    assert doubling([at(100, 1.0), at(300, 9.0)]) == pytest.approx(4.0)
    assert doubling([at(100, 1.0)]) is None
    assert doubling([]) is None
    # Spread is the median share of the middle half.
    # Middle halves of 0, 2/3 and 4 times the median.
    entry = latencies([sample(1.0), sample(1.0, n=32), sample(3.0, n=32), sample(5.0, n=32)])["a"]
    assert [(x.high - x.low) / x.median for x in entry] == pytest.approx([0.0, 2 / 3])
    other = latencies([sample(s) for s in (1.0, 1.0, 1.0, 5.0, 5.0)])["a"]
    assert spread([entry, other]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="no spread"):
        spread([()])


def subject(model: str = "a") -> CostSubject:
    info = builders.info(id=model, width=8, parameters=1000, max_tokens=512, mlm=True)
    return CostSubject(model=model, info=info, n_bytes=4000, n_threads=2, pieces_per_word=1.25, lengths=(16, 32))


def test_the_table_has_a_row_a_model_and_length() -> None:
    quality = Quality(
        n_done=2, n_total=2, mlm_loss=1.5, mlm_accuracy=0.25, n_masked=8, kept_accuracy=0.5, n_kept=2, no_nsp="no head"
    )
    costs = [
        ModelCost(subject("a"), (at(16, 0.001), at(32, 0.002)), quality),
        ModelCost(subject("b"), (at(16, 0.004),), None),
        ModelCost(subject("c"), (), None),
    ]
    table = frame(costs)
    nan = np.nan
    assert list(table["model"]) == ["a", "a", "b"]
    for name, column in {
        "tokens": [16, 32, 16], "median_ms": [1.0, 2.0, 4.0], "tokens_per_second": [16000, 16000, 4000],
        "words_per_second": [8000, 8000, 2000], "time_factor_per_doubling": [2.0, 2.0, nan],
        "mlm_accuracy": [0.25, 0.25, nan], "nsp_accuracy": [nan] * 3, "kept_accuracy": [0.5, 0.5, nan],
        "kept_tokens": [2, 2, 0], "replaced_accuracy": [nan] * 3, "weights_bytes": [4000] * 3,
    }.items():  # fmt: skip
        np.testing.assert_allclose(table[name].astype(float), column, err_msg=name)
    assert costs[0].at(32) == at(32, 0.002)
    assert costs[1].at(32) is None
