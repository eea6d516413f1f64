"""Maps of what things do, and sums as waterfalls."""

from __future__ import annotations

import numpy as np
import pytest

from viz.signed_map import signed_map
from viz.waterfall import waterfall

VALUES = np.array([[1.0, -2.0], [0.0, np.nan]])


def test_every_cell_can_be_clicked_and_says_what_it_is() -> None:
    figure = signed_map(VALUES, ["1", "2"], ["cat", "<b>"], what="bits", down="layer", marked={(0, 1)})
    (bar,) = figure.data
    assert [list(place) for place in bar.customdata] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert list(bar.base) == [-0.5, 0.5, -0.5, 0.5]
    assert bar.hovertext[0] == "layer 1, cat<br>bits: <b>+1.0000</b>"
    assert "&#60;b&#62;" in bar.hovertext[1]
    assert bar.hovertext[1].endswith("<br>off")
    assert "−2.0000" in bar.hovertext[1]
    assert "none" in bar.hovertext[3]
    assert list(bar.text) == ["1.0", "−2.0", "0", "–"]
    (outline,) = figure.layout.shapes
    assert (outline.x0, outline.y0) == pytest.approx((0.52, -0.46))


def test_colours_are_of_sign_and_size() -> None:
    values = np.array([[1.0, -1.0], [0.1, -0.1]])
    together = signed_map(values, ["1", "2"], ["a", "b"], what="x").data[0].marker.color
    alone = signed_map(values, ["1", "2"], ["a", "b"], what="x", each_row=True).data[0].marker.color
    assert len(set(together)) == 4
    assert list(alone[:2]) == list(alone[2:]) == list(together[:2])


def test_labels_have_to_fit() -> None:
    with pytest.raises(ValueError, match="1 rows"):
        signed_map(VALUES, ["1"], ["a", "b"], what="x")


def test_many_columns_have_no_numbers() -> None:
    figure = signed_map(np.ones((1, 30)), ["1"], ["w"] * 30, what="x")
    assert set(figure.data[0].text) == {""}


def test_a_sum_goes_from_part_to_part() -> None:
    (bar,) = waterfall([("token", 2.0, ""), ("head", -3.0, "raises <i>"), ("bias", 0.5, "")], "logit").data
    assert list(bar.base) == [0.0, 2.0, -1.0, 0.0]
    assert list(bar.x) == [2.0, -3.0, 0.5, -0.5]
    assert "raises &#60;i&#62;" in bar.hovertext[1]
    assert bar.text[1] == "−3.00"
    with pytest.raises(ValueError, match="no parts"):
        waterfall([], "logit")
