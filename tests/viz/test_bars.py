"""Numbers as bars: each at its name, on one scale."""

from __future__ import annotations

import pytest

from viz.bars import bars


def test_the_largest_number_is_as_long_as_the_picture_unless_there_is_a_top() -> None:
    figure = bars(["a", "b"], [("length", [1, 4])])
    assert list(figure.data[0].x) == [1, 4]
    assert figure.layout.xaxis.range[1] == pytest.approx(4.08)
    assert bars(["a"], [("share", [0.25])], top=1).layout.xaxis.range[1] == pytest.approx(1.02)
    assert bars(["a"], [("share", [0.0])]).layout.xaxis.range[1] == pytest.approx(1.02)


def test_a_marked_name_stands_out_and_two_series_have_a_legend() -> None:
    (single,) = bars(["a", "b"], [("length", [1, 4])], marked=1).data
    assert single.marker.color[0] != single.marker.color[1]
    two = bars(["a", "b"], [("before", [1, 4]), ("after", [2, 3])])
    assert [trace.name for trace in two.data] == ["before", "after"]
    assert two.layout.showlegend


def test_numbers_have_to_fit_the_names() -> None:
    with pytest.raises(ValueError, match="2 names"):
        bars(["a", "b"], [("length", [1])])
