"""Texts and sentences in a plane and by layer."""

from __future__ import annotations

import numpy as np
import pytest

from viz.curves import Ranking, rho_by_layer
from viz.matrix import cosine_matrix
from viz.planes import cka_by_layer, learning_plane, sentence_plane

POINTS = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
TEXTS = ["one", "two", "<three>", "four"]


def test_each_moment_is_a_frame_and_the_last_is_shown_first() -> None:
    figure = learning_plane(POINTS, (0.6, 0.25), ["0", "1", "2"], TEXTS, ["b", "a", "b", "a"])
    assert [frame.name for frame in figure.frames] == ["0", "1", "2"]
    a, b = figure.data
    assert (a.name, b.name) == ("a", "b")
    assert list(a.x) == [POINTS[2, 1, 0], POINTS[2, 3, 0]]
    assert list(figure.frames[0].data[1].y) == [POINTS[0, 0, 1], POINTS[0, 2, 1]]
    assert list(b.text) == ["one", "&#60;three&#62;"]
    low, high = figure.layout.xaxis.range
    assert low < POINTS[..., 0].min()
    assert high > POINTS[..., 0].max()
    assert [step.label for step in figure.layout.sliders[0].steps] == ["0", "1", "2"]
    assert figure.layout.sliders[0].active == 2
    assert "60%" in figure.layout.xaxis.title.text


def test_numbers_are_colours_on_a_scale() -> None:
    figure = learning_plane(POINTS, (0.6, 0.25), ["0", "1", "2"], TEXTS, [0.0, 5.0, 2.5, 1.0])
    (only,) = figure.data
    assert list(only.marker.color) == [0.0, 5.0, 2.5, 1.0]
    assert only.marker.showscale


def test_every_text_needs_a_group() -> None:
    with pytest.raises(ValueError, match="a text and a group each"):
        learning_plane(POINTS, (0.6, 0.25), ["0", "1", "2"], TEXTS, ["a"])


def test_the_bars_of_layers_begin_with_the_embeddings() -> None:
    figure = cka_by_layer(np.array([1.0, 0.75, 0.5], dtype=np.float32))
    assert list(figure.data[0].y) == [1.0, 0.75, 0.5]
    assert list(figure.layout.xaxis.ticktext) == ["embeddings", "1", "2"]


COSINES = np.array([[1, 0.25, -0.5], [0.25, 1, 0], [-0.5, 0, 1]], dtype=np.float32)
LINES = ["A short one.", "<i>Tags</i> are text.", "A sentence that is much too long to be a label in a picture."]


def test_the_matrix_holds_the_cosines_in_the_order_typed_and_writes_them() -> None:
    figure = cosine_matrix(COSINES, LINES)
    cells, *written = figure.data
    np.testing.assert_array_equal(cells.z, COSINES)
    assert (cells.zmin, cells.zmax) == (-1, 1)
    assert {trace.textfont.color for trace in written} == {"#000000", "#FFFFFF"}
    numbers = np.array([trace.z for trace in written])
    assert (np.isfinite(numbers).sum(axis=0) == 1).all()  # each number once
    np.testing.assert_array_equal(np.nansum(numbers, axis=0), COSINES)
    labels = figure.layout.yaxis.ticktext
    assert labels[0].endswith("1")
    assert labels[1].startswith("&#60;i&#62;")
    assert "…" in labels[2]
    assert cells.customdata[0][2] == f"{LINES[0]}<br>{LINES[2]}"  # the whole of it when hovered
    assert len(cosine_matrix(np.eye(50, dtype=np.float32), ["x"] * 50).data) == 1  # no room for numbers


def test_cosines_need_their_sentences() -> None:
    with pytest.raises(ValueError, match="do not fit 2 sentences"):
        cosine_matrix(COSINES, LINES[:2])


def test_points_carry_numbers_and_words() -> None:
    figure = sentence_plane(np.array([[0, 1], [2, 3], [4, 5]], dtype=np.float32), (0.7, 0.2), LINES)
    assert list(figure.data[0].x) == [0, 2, 4]
    assert list(figure.data[0].text) == ["1", "2", "3"]
    assert "70%" in figure.layout.xaxis.title.text


def test_a_line_for_each_ranking_and_a_colour_for_each_name() -> None:
    nan = float("nan")
    figure = rho_by_layer(
        [
            Ranking("Mean", False, [(0, 0.1, 0.0, 0.2), (1, 0.6, 0.5, 0.7)]),
            Ranking("Mean", True, [(0, nan, nan, nan), (1, 0.7, 0.6, 0.8)]),
            Ranking("<s>", False, [(0, 0.0, -0.1, 0.1)]),
        ],
        "removed",
    )
    mean, removed, cls = figure.data
    assert list(mean.y) == [0.1, 0.6]
    assert list(mean.customdata[1]) == [0.5, 0.7]
    assert list(removed.y) == [None, 0.7]  # a gap
    assert removed.name == "Mean, removed"
    assert mean.line.color == removed.line.color != cls.line.color
    assert (mean.line.dash, removed.line.dash) == ("solid", "dot")
    assert cls.name == "&#60;s&#62;"
    assert list(figure.layout.xaxis.ticktext) == ["embeddings", "1"]
    with pytest.raises(ValueError, match="nothing to draw"):
        rho_by_layer([], "removed")
