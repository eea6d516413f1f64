"""Bars: each at its name, on one scale; heads in the order given."""

from __future__ import annotations

import pytest

from viz.bars import bars, ranking
from viz.layout import percent


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


def test_bars_say_head_share_and_an_even_spread() -> None:
    figure = ranking([(1, 3), (5, 11)], [0.57, 0.0035], [0.08, 0.08], "attention of “it” on “cat”")
    bars, even = figure.data
    assert list(bars.x) == [0.57, 0.0035]
    assert list(bars.text) == ["57%", "0.35%"]
    assert [tuple(head) for head in bars.customdata] == [(1, 3), (5, 11)]
    assert list(even.x) == [0.08, 0.08]
    assert list(even.y) == list(bars.y) == list(figure.layout.yaxis.tickvals)
    assert list(figure.layout.yaxis.ticktext) == ["Layer 2, head 4", "Layer 6, head 12"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the first on top
    assert figure.layout.xaxis.title.text.startswith("attention of “it” on “cat”<br>")


def test_an_even_spread_beyond_the_longest_bar_is_in_the_picture() -> None:
    assert ranking([(0, 0)], [0.01], [0.5], "x").layout.xaxis.range[1] > 0.5
    assert ranking([(0, 0)], [0.0], [0.0], "x").layout.xaxis.range[1] > 0


@pytest.mark.parametrize(
    ("share", "written"),
    [(0, "0%"), (1, "100%"), (0.573, "57%"), (0.0769, "7.7%"), (0.0031, "0.31%"), (1e-7, "1e-05%")],
)
def test_percent_has_two_digits_that_count(share: float, written: str) -> None:
    assert percent(share) == written
