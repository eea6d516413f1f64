"""The plane while a model learns: frames, one for each moment, on axes that stay."""

from __future__ import annotations

import numpy as np
import pytest

from viz.planes import cka_by_layer, learning_plane

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
