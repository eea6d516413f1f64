"""Scores score_by_cost costs: what is drawn are the numbers."""

from __future__ import annotations

import pytest

from viz.intervals import Entry, score_by_cost
from viz.layout import PERCENT

ENTRIES = [Entry("BERT", 20.0, 0.9, 0.85, 0.95), Entry("<b>LSTM</b>", 2.0, 0.6, 0.5, 0.7)]


def test_a_model_is_a_point_with_its_interval() -> None:
    figure = score_by_cost(ENTRIES, "time, ms", "Accuracy")
    first, other = figure.data
    assert (list(first.x), list(first.y)) == ([20.0], [0.9])
    assert list(first.error_y.array) == pytest.approx([0.05])
    assert list(other.error_y.arrayminus) == pytest.approx([0.1])
    assert other.name == "&#60;b&#62;LSTM&#60;/b&#62;"
    assert first.marker.color != other.marker.color
    assert first.marker.symbol != other.marker.symbol
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.yaxis.tickformat == PERCENT
    assert score_by_cost(ENTRIES, "time, ms", "MCC", percent=False).layout.yaxis.tickformat is None


def test_a_cost_of_nothing_has_no_place_on_the_axis() -> None:
    with pytest.raises(ValueError, match="above 0"):
        score_by_cost([Entry("M", 0.0, 0.5, 0.4, 0.6)], "ms", "Accuracy")


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ((0.9, 7.5), ["1", "2", "5", "10"]),
        ((15.2, 90.9), ["20", "50", "100"]),
        ((3.0, 3.0), ["3", "4"]),
        ((0.02, 40.0), ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50"]),
    ],
)
def test_costs_stand_at_whole_numbers_with_their_power_of_ten(costs: tuple[float, float], expected: list[str]) -> None:
    entries = [Entry(name, cost, 0.5, 0.4, 0.6) for name, cost in zip("ab", costs, strict=True)]
    axis = score_by_cost(entries, "ms", "F1").layout.xaxis
    assert list(axis.ticktext) == expected
    assert [float(text) for text in axis.ticktext] == pytest.approx(list(axis.tickvals))
    low, high = (10**end for end in axis.range)
    assert low < min(costs)
    assert max(costs) < high
