"""Matrices: the numbers in them are the results', on one scale, and labels fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured_results import MAP

from viz import matrix, planes
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


def test_plane_has_one_frame_a_layer_and_one_trace_a_label() -> None:
    points = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    explained = np.full((2, 2), 0.25, dtype=np.float32)
    texts = {"texts": ("x", "y", "z"), "words": ("u", "v", "w"), "labels": ("b", "a", "b")}
    task_map = replace(MAP, points=points, explained=explained, **texts)
    figure = planes.plane(task_map, layer=1)
    assert [trace.name for trace in figure.data] == ["a", "b"]
    np.testing.assert_array_equal(figure.data[1].x, points[1, [0, 2], 0])
    assert [frame.name for frame in figure.frames] == ["embeddings", "1"]
    np.testing.assert_array_equal(figure.frames[0].data[1].y, points[0, [0, 2], 1])
    assert figure.layout.sliders[0].active == 1
    assert "25%" in figure.layout.xaxis.title.text
    with pytest.raises(ValueError, match="layer 2"):
        planes.plane(task_map, layer=2)


def test_matrices_hold_their_numbers_and_repeated_tokens() -> None:
    cka = np.array([[1, 0.5], [0.5, 1]], dtype=np.float32)
    np.testing.assert_array_equal(matrix.similarity(cka).data[0].z, cka)
    moved = np.array([[0.1, 0.2], [0.3, 0.4]], dtype=np.float32)
    figure = matrix.token_movement(moved, ["the", "the"], "1 − cos")
    np.testing.assert_array_equal(figure.data[0].z, moved)
    assert figure.layout.xaxis.labelalias == {"0": "the", "1": "the"}
    assert list(figure.data[0].x) == [0, 1]
    with pytest.raises(ValueError, match="does not fit"):
        matrix.token_movement(moved, ["the"], "1 − cos")


def test_similarity_of_two_models_has_embeddings_first_and_each_models_own_layers() -> None:
    values = np.array([[1, 0.5, 0.2], [0.4, 0.9, 0.3]], dtype=np.float32)
    figure = matrix.similarity(values, ("Small", "Large"))
    np.testing.assert_array_equal(figure.data[0].z, values)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    assert figure.layout.yaxis.ticktext == ("embeddings", "1")
    assert figure.layout.xaxis.ticktext == ("embeddings", "1", "2")
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == ("Small: layer", "Large: layer")
    assert figure.data[0].text[1][2] == "Large: layer 2<br>Small: layer 1"
