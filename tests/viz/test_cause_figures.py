"""Maps of what things do, and sums as waterfalls."""

from __future__ import annotations

import json

import numpy as np
import pytest

from viz.bars import waterfall
from viz.cells import cells
from viz.layout import visible_text
from viz.palette import sequential

VALUES = np.array([[1.0, -2.0], [0.0, np.nan]])
NAMES = {"down": "layer", "across": "word"}


def test_what_a_map_is_drawn_from() -> None:
    made = cells(VALUES, ["1", "2"], ["cat", "a\u200bb"], quantity="bits", **NAMES, picked=[(1, 0), (0, 1)], pick=True)
    assert np.frombuffer(made["weights"], dtype="<f4").reshape(2, 2) == pytest.approx(VALUES, nan_ok=True)
    assert made["picked"] == [(1, 0), (0, 1)]
    assert made["columns"][1] == visible_text("a\u200bb")
    assert made["ends"] == [2.0, 2.0]
    assert made["marks"] == [(0.0, "−2"), (0.5, "0"), (1.0, "+2")]
    json.dumps({name: value for name, value in made.items() if name != "weights"})


def test_a_scale_may_be_of_each_row_and_begin_at_zero() -> None:
    alone = cells(
        np.array([[1.0, 4.0], [0.0, 0.0]]), ["1", "2"], ["a", "b"], quantity="x", **NAMES, each_row=True, signed=False
    )
    assert alone["ends"] == [4.0, 1.0]
    assert alone["marks"] == [(0.0, "0"), (1.0, "largest")]
    assert alone["title"] == "x, in each row up to its largest"
    assert alone["scale"] == [colour for _, colour in sequential(dark=False)]
    assert cells(VALUES, ["1", "2"], ["a", "b"], quantity="x", **NAMES, end=5)["ends"] == [5.0, 5.0]


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (0, 2)])
def test_names_have_to_fit(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="are wanted"):
        cells(
            np.zeros(shape),
            ["1", "2"][: shape[0] or 0],
            ["a", "b"] if shape != (1, 2) else ["a"],
            quantity="x",
            **NAMES,
        )


def test_a_sum_goes_from_part_to_part() -> None:
    (bar,) = waterfall([("token", 2.0, ""), ("head", -3.0, "raises <i>"), ("bias", 0.5, "")], "logit").data
    assert list(bar.base) == [0.0, 2.0, -1.0, 0.0]
    assert list(bar.x) == [2.0, -3.0, 0.5, -0.5]
    assert "raises &#60;i&#62;" in bar.hovertext[1]
    assert bar.text[1] == "−3.00"
    with pytest.raises(ValueError, match="no parts"):
        waterfall([], "logit")
