"""Lines over places: every number at its label, and axes that hold them."""

from __future__ import annotations

import pytest

from viz.curves import curves


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
