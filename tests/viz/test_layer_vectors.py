"""Figures of the vectors in the layers: the numbers in them are the results'."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.probing import TaskMap
from viz import matrix, planes


def test_plane_has_one_frame_a_layer_and_one_trace_a_label() -> None:
    points = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    task_map = TaskMap(
        task="t",
        points=points,
        explained=np.full((2, 2), 0.25, dtype=np.float32),
        cka=np.eye(2, dtype=np.float32),
        texts=("x", "y", "z"),
        words=("u", "v", "w"),
        labels=("b", "a", "b"),
    )
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
