"""Scores against costs: what is drawn are the numbers."""

from __future__ import annotations

import pytest

from viz.layout import PERCENT
from viz.race import Entry, against

ENTRIES = [Entry("BERT", 20.0, 0.9, 0.85, 0.95), Entry("<b>LSTM</b>", 2.0, 0.6, 0.5, 0.7)]


def test_a_model_is_a_point_with_its_interval() -> None:
    figure = against(ENTRIES, "time, ms", "Accuracy")
    one, other = figure.data
    assert (list(one.x), list(one.y)) == ([20.0], [0.9])
    assert list(one.error_y.array) == pytest.approx([0.05])
    assert list(other.error_y.arrayminus) == pytest.approx([0.1])
    assert other.name == "&#60;b&#62;LSTM&#60;/b&#62;"
    assert one.marker.color != other.marker.color
    assert one.marker.symbol != other.marker.symbol
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.yaxis.tickformat == PERCENT
    assert against(ENTRIES, "time, ms", "MCC", percent=False).layout.yaxis.tickformat is None


def test_a_cost_of_nothing_has_no_place_on_the_axis() -> None:
    with pytest.raises(ValueError, match="above 0"):
        against([Entry("M", 0.0, 0.5, 0.4, 0.6)], "ms", "Accuracy")
