"""Dots with intervals: scores against costs, and heads that are off beside others."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.corpus.importance import Curve, Mean, compare_head, compared_sets
from viz.curves import pruning
from viz.intervals import Entry, score_by_cost, switched_off
from viz.layout import PERCENT
from viz.palette import theme

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


RNG = np.random.default_rng(0)
SETS = compared_sets((2, 1), 4)
SCORES = np.concatenate([np.zeros((1, 30)), RNG.normal([[-1.0], [0], [0.2], [0], [-0.9]], 0.1, (5, 30))])
FOUND = compare_head(SCORES.astype(np.float32), (SCORES > -0.5).astype(np.float32), np.arange(30), SETS)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_head_stands_out_with_its_interval(dark: bool) -> None:
    figure = switched_off(FOUND, "change of ln P (nats)", dark=dark)
    head, others, layer = figure.data
    assert head.name == "layer 3, head 2"
    assert head.marker.color == theme(dark).primary
    assert list(head.x) == [FOUND.head.change.value]
    assert head.error_x.array[0] == pytest.approx(FOUND.head.change.high - FOUND.head.change.value)
    assert list(others.y) == [1, 2, 3]
    assert list(figure.layout.yaxis.ticktext) == ["<b>head 2</b>", "head 1", "head 3", "head 4", "the whole layer"]
    assert list(layer.x) == [FOUND.layer.change.value]
    assert others.hovertext[0].startswith("head 1 off: ")
    assert figure.layout.xaxis.title.text == "change of ln P (nats)"


def test_shares_have_a_line_where_nothing_is_off() -> None:
    figure = switched_off(FOUND, "right", right=True)
    assert [shape.x0 for shape in figure.layout.shapes] == [1.0]
    assert list(figure.data[0].x) == [0.0]


def curve(name: str, n: int) -> Curve:
    means = tuple(Mean(0.9 - 0.1 * at, 0.85 - 0.1 * at, 0.95 - 0.1 * at, 50, 50) for at in range(n))
    return Curve(name, tuple(range(0, 2 * n, 2)), means)


def test_curves_lie_over_their_bands_and_end_where_they_were_stopped() -> None:
    figure = pruning([curve("greedy", 2), curve("at random", 5)], "right", 8, percent=True, baseline=("chance", 0.5))
    *_, greedy, random, chance = figure.data
    assert list(greedy.x) == [0, 2]
    assert list(random.x) == [0, 2, 4, 6, 8]
    assert (chance.name, list(chance.y), chance.line.dash) == ("chance", [0.5, 0.5], "dot")
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == ["greedy", "at random", "chance"]
    assert figure.data[0].fill == "toself"
    assert figure.layout.xaxis.range[1] > 8
    with pytest.raises(ValueError, match="nothing to draw"):
        pruning([], "right", 8, percent=True)
