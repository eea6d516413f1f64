"""Small matrices side by side: one scale for all, and labels that fit."""

from __future__ import annotations

import numpy as np
import pytest

from viz.matrix import matrices

ONE = np.array([[0.5, 0.0], [0.25, 1.0]], dtype=np.float32)


def test_all_are_drawn_on_one_scale() -> None:
    figure = matrices([("a", ONE), ("b", ONE * 4)], ["x", "y"], ["p", "q"], quantity="share", axes=("row", "column"))
    assert [trace.zmax for trace in figure.data] == [4, 4]
    assert [trace.zmin for trace in figure.data] == [0, 0]
    assert figure.data[1].z.tolist() == (ONE * 4).tolist()
    assert ["<b>a</b>" in figure.layout.xaxis.title.text, "<b>b</b>" in figure.layout.xaxis2.title.text] == [True, True]
    assert figure.data[0].text[1][0] == "y → p"


def test_signed_numbers_have_zero_in_the_middle() -> None:
    (trace,) = matrices(
        [("a", -ONE)], ["x", "y"], ["p", "q"], quantity="bias", axes=("row", "column"), signed=True
    ).data
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_labels_have_to_fit() -> None:
    with pytest.raises(ValueError, match="1 rows"):
        matrices([("a", ONE)], ["x"], ["p", "q"], quantity="share", axes=("row", "column"))


def test_small_shares_can_be_told_apart_by_their_root() -> None:
    (plain,) = matrices([("a", ONE)], ["x", "y"], ["p", "q"], quantity="share", axes=("row", "column")).data
    (bent,) = matrices([("a", ONE)], ["x", "y"], ["p", "q"], quantity="share", axes=("row", "column"), root=True).data
    assert bent.z.tolist() == plain.z.tolist()  # the numbers on hovering stay exact
    assert [stop for stop, _ in bent.colorscale] == pytest.approx([stop**2 for stop, _ in plain.colorscale])


def test_several_side_by_side_have_fewer_labels_each() -> None:
    names = [str(at) for at in range(16)]
    figure = matrices(
        [(name, np.ones((16, 16), dtype=np.float32)) for name in "abc"],
        names,
        names,
        quantity="share",
        axes=("row", "column"),
    )
    assert len(figure.layout.yaxis.tickvals) == 16
    assert len(figure.layout.xaxis2.tickvals) == 6
