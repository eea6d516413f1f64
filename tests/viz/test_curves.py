"""Lines: every number at its place, and axes that hold them; every model can be told apart."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.latency import Latency
from viz.curves import by_length, curves


def test_every_number_stands_over_its_label() -> None:
    figure = curves(["embeddings", "1"], [("a", [0.5, 1.0]), ("b", [-0.25, 0.0])], quantity="cosine", across="layer")
    assert [list(trace.y) for trace in figure.data] == [[0.5, 1.0], [-0.25, 0.0]]
    assert figure.data[1].hovertext[0] == "b<br>layer embeddings: <b>−0.2500</b>"
    assert list(figure.layout.xaxis.ticktext) == ["embeddings", "1"]
    low, high = figure.layout.yaxis.range
    assert low < -0.25
    assert high > 1


def test_shares_are_written_as_percentages() -> None:
    figure = curves(["1"], [("a", [0.123])], quantity="accuracy", share=True)
    assert figure.data[0].hovertext[0].endswith("<b>12.3%</b>")
    assert figure.layout.yaxis.tickformat == ".0%"


def test_numbers_have_to_fit() -> None:
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


@pytest.mark.parametrize("dark", [False, True])
def test_latency_has_medians_spread_and_a_line_to_compare_with(dark: bool) -> None:
    figure = by_length(CURVES, "latency", names=NAMES, dark=dark)
    a, b, guide = figure.data
    assert list(a.x) == [16, 32, 64]
    np.testing.assert_allclose(a.y, [1, 2, 4])
    np.testing.assert_allclose(a.error_y.array, [1, 2, 4])  # up to twice the median
    np.testing.assert_allclose(a.error_y.arrayminus, [0.5, 1, 2])
    np.testing.assert_allclose(b.y, [10, 40])
    assert b.name == "&#60;b&#62;B&#60;/b&#62;"
    # Twice the tokens, twice the time: four times the tokens from end to end.
    assert list(guide.x) == [16, 64]
    assert guide.y[1] / guide.y[0] == pytest.approx(4)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert list(figure.layout.xaxis.tickvals) == [16, 32, 64]
    assert figure.layout.showlegend


def test_speeds_are_the_inverse_and_their_spread_turns_round() -> None:
    a, b = by_length(CURVES, "tokens", names=NAMES).data
    np.testing.assert_allclose(a.y, [16000, 16000, 16000])
    np.testing.assert_allclose(a.error_y.array, [16000] * 3)  # the fastest quartile takes half the time
    np.testing.assert_allclose(a.error_y.arrayminus, [8000] * 3)
    np.testing.assert_allclose(b.y, [1600, 800])
    words, _ = by_length(CURVES, "words", names=NAMES).data
    np.testing.assert_allclose(words.y, [8000] * 3)


def test_four_models_differ_in_colour_and_in_mark() -> None:
    curves = {name: curve(name, 0.001, 0.002) for name in "abcd"}
    lines = by_length(curves, "tokens", names={name: name for name in "abcd"}).data
    assert len({line.line.color for line in lines}) == 4
    assert len({line.marker.symbol for line in lines}) == 4


def test_one_length_of_one_model_is_a_figure() -> None:
    figure = by_length({"a": curve("a", 0.001)}, "latency", names=NAMES)
    np.testing.assert_allclose(figure.data[0].y, [1])


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        by_length({"a": ()}, "latency", names=NAMES)
