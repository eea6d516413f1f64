"""Curves: every number at its place, axes that hold them, intervals, bands over seeds."""

import numpy as np
import pytest

from analysis.corpus.importance import Curve, Mean, compare_head, compared_sets
from analysis.latency import Latency
from viz.curves import by_length, curves, pruning
from viz.intervals import Entry, score_by_cost, switched_off
from viz.palette import theme


def test_every_number_stands_over_its_label() -> None:
    figure = curves(["embeddings", "1"], [("a", [0.5, 1.0]), ("b", [-0.25, 0.0])], quantity="cosine", across="layer")
    assert [list(trace.y) for trace in figure.data] == [[0.5, 1.0], [-0.25, 0.0]]
    assert figure.data[1].hovertext[0] == "b<br>layer embeddings: <b>−0.2500</b>"
    assert list(figure.layout.xaxis.ticktext) == ["embeddings", "1"]
    low, high = figure.layout.yaxis.range
    assert low < -0.25
    assert high > 1
    figure = curves(["1"], [("a", [0.123])], quantity="accuracy", share=True)
    assert figure.data[0].hovertext[0].endswith("<b>12.3%</b>")
    with pytest.raises(ValueError, match="2 labels"):
        curves(["1", "2"], [("a", [0.5])], quantity="cosine")


def curve(model: str, *medians: float) -> tuple[Latency, ...]:
    return tuple(
        Latency(
            model=model, n_tokens=16 * 2**place, n_words=8 * 2**place, n=7, median=median,
            low=median / 2, high=median * 2, peak_bytes=None,
        )
        for place, median in enumerate(medians)
    )  # fmt: skip


CURVES = {"a": curve("a", 0.001, 0.002, 0.004), "b": curve("b", 0.01, 0.04)}
NAMES = {"a": "A", "b": "<b>B</b>"}


def test_latency_has_medians_spread_and_a_line_to_compare_with() -> None:
    figure = by_length(CURVES, "latency", names=NAMES)
    a, b, guide = figure.data
    assert list(a.x) == [16, 32, 64]
    np.testing.assert_allclose(a.y, [1, 2, 4])
    np.testing.assert_allclose(a.error_y.array, [1, 2, 4])  # up to twice the median
    np.testing.assert_allclose(a.error_y.arrayminus, [0.5, 1, 2])
    np.testing.assert_allclose(b.y, [10, 40])
    # Twice the tokens, twice the time: four times the tokens from end to end.
    assert list(guide.x) == [16, 64]
    assert guide.y[1] / guide.y[0] == pytest.approx(4)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_speeds_are_the_inverse_and_their_spread_turns_round() -> None:
    a, b = by_length(CURVES, "tokens", names=NAMES).data
    np.testing.assert_allclose(a.y, [16000, 16000, 16000])
    np.testing.assert_allclose(a.error_y.array, [16000] * 3)  # the fastest quartile takes half the time
    np.testing.assert_allclose(a.error_y.arrayminus, [8000] * 3)
    np.testing.assert_allclose(b.y, [1600, 800])
    words, _ = by_length(CURVES, "words", names=NAMES).data
    np.testing.assert_allclose(words.y, [8000] * 3)
    figure = by_length({"a": curve("a", 0.001)}, "latency", names=NAMES)
    np.testing.assert_allclose(figure.data[0].y, [1])
    with pytest.raises(ValueError, match="nothing to draw"):
        by_length({"a": ()}, "latency", names=NAMES)


ENTRIES = [Entry("BERT", 20.0, 0.9, 0.85, 0.95), Entry("<b>LSTM</b>", 2.0, 0.6, 0.5, 0.7)]


def test_a_model_is_a_point_with_its_interval() -> None:
    figure = score_by_cost(ENTRIES, "time, ms", "Accuracy")
    first, other = figure.data
    assert (list(first.x), list(first.y)) == ([20.0], [0.9])
    assert list(first.error_y.array) == pytest.approx([0.05])
    assert list(other.error_y.arrayminus) == pytest.approx([0.1])
    assert other.name == "&#60;b&#62;LSTM&#60;/b&#62;"
    assert first.marker.symbol != other.marker.symbol
    assert figure.layout.xaxis.type == "log"
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


def test_the_head_stands_out_with_its_interval() -> None:
    figure = switched_off(FOUND, "change of ln P (nats)")
    head, others, layer = figure.data
    assert head.name == "layer 3, head 2"
    assert head.marker.color == theme(False).primary
    assert list(head.x) == [FOUND.head.change.value]
    assert head.error_x.array[0] == pytest.approx(FOUND.head.change.high - FOUND.head.change.value)
    assert list(others.y) == [1, 2, 3]
    assert list(figure.layout.yaxis.ticktext) == ["<b>head 2</b>", "head 1", "head 3", "head 4", "the whole layer"]
    assert list(layer.x) == [FOUND.layer.change.value]
    # Shares have a line where nothing is off.
    figure = switched_off(FOUND, "right", right=True)
    assert [shape.x0 for shape in figure.layout.shapes] == [1.0]
    assert list(figure.data[0].x) == [0.0]


def pruned(name: str, n: int) -> Curve:
    means = tuple(Mean(0.9 - 0.1 * at, 0.85 - 0.1 * at, 0.95 - 0.1 * at, 50, 50) for at in range(n))
    return Curve(name, tuple(range(0, 2 * n, 2)), means)


def test_curves_lie_over_their_bands_and_end_where_they_were_stopped() -> None:
    figure = pruning([pruned("greedy", 2), pruned("at random", 5)], "right", 8, percent=True, baseline=("chance", 0.5))
    *_, greedy, random, chance = figure.data
    assert list(greedy.x) == [0, 2]
    assert list(random.x) == [0, 2, 4, 6, 8]
    assert (chance.name, list(chance.y), chance.line.dash) == ("chance", [0.5, 0.5], "dot")
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == ["greedy", "at random", "chance"]
    assert figure.data[0].fill == "toself"
    assert figure.layout.xaxis.range[1] > 8
    with pytest.raises(ValueError, match="nothing to draw"):
        pruning([], "right", 8, percent=True)
