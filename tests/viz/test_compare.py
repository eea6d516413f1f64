"""Figures of two models: exact numbers, which sign is which colour, and heads under their own layers."""

import numpy as np
import pytest

from model_zoo.types import FloatArray
from viz import heatmap, matrix
from viz.palette import diverging, rgb, sequential

A: FloatArray = np.array([[0.75, 0.25, 0.0], [0.1, 0.2, 0.7]], dtype=np.float32)
B: FloatArray = np.array([[0.25, 0.5, 0.25], [0.1, 0.2, 0.7]], dtype=np.float32)
WORDS, KEYS = ["the", "the"], ["the", "the", "special tokens and the rest"]
NAMES = ("BERT", "Modern<b>BERT")


def colour_at(scale: list[tuple[float, str]], place: float) -> FloatArray:
    channels = np.array([rgb(colour) for _, colour in scale])
    return np.array([np.interp(place, [p for p, _ in scale], c) for c in channels.T], dtype=np.float32)


def test_the_difference_holds_all_three_numbers_around_a_neutral_zero() -> None:
    picture = heatmap.difference(A, B, WORDS, KEYS, names=NAMES)
    numbers = np.frombuffer(picture["weights"], dtype="<f4").reshape(3, *A.shape)
    np.testing.assert_array_equal(numbers, np.stack([A - B, A, B]))
    assert [(number["name"], number["signed"]) for number in picture["numbers"]] == [
        ("difference", True), ("BERT", False), ("Modern<b>BERT", False)
    ]  # fmt: skip
    assert picture["limits"] == (-1, 1)
    assert picture["bend"] == "root both ways"
    assert picture["scale"] == [colour for _, colour in diverging(dark=False)]
    assert picture["dark_scale"] == [colour for _, colour in diverging(dark=True)]
    assert picture["title"].startswith("BERT − Modern<b>BERT")
    # A model less itself is zero everywhere.
    picture = heatmap.difference(A, A, WORDS, KEYS, names=("a", "b"))
    assert not np.frombuffer(picture["weights"], dtype="<f4")[: A.size].any()
    assert picture["limits"] == (-1, 1)
    # The bar names differences where their colours are.
    for place, text in picture["marks"]:
        away = 2 * place - 1  # colour follows the root, so a place stands for its square
        assert float(text.replace("−", "-")) == pytest.approx(away * abs(away), abs=0.03)
    with pytest.raises(ValueError, match="not on the same words"):
        heatmap.difference(A, B[:, :2], WORDS, KEYS, names=("a", "b"))
    with pytest.raises(ValueError, match="do not fit 2 queries and 2 keys"):
        heatmap.difference(A, B, WORDS, KEYS[:2], names=("a", "b"))


def test_heads_stand_under_their_own_layers() -> None:
    divergence = np.linspace(0, 1, 24, dtype=np.float32).reshape(6, 4)
    figure = matrix.head_matrix(divergence, 2, 3, 2, 2, names=("A", "B"))
    trace = figure.data[0]
    np.testing.assert_array_equal(trace.z, divergence)
    for names, n_heads in ((trace.y, 3), (trace.x, 2)):
        assert names == tuple(f"layer {layer}, head {head + 1}" for layer in (1, 2) for head in range(n_heads))
    assert (figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext) == ((1.0, 4.0), ("1", "2"))
    assert (figure.layout.xaxis.tickvals, figure.layout.xaxis.ticktext) == ((0.5, 2.5), ("1", "2"))
    lines = [shape for shape in figure.layout.shapes if shape.type == "line"]
    assert [(line.y0, line.y1) for line in lines if line.xref == "x domain"] == [(2.5, 2.5)]
    assert [(line.x0, line.x1) for line in lines if line.yref == "y domain"] == [(1.5, 1.5)]
    assert figure.layout.yaxis.range == (5.5, -0.5)  # the first layer on top
    with pytest.raises(ValueError, match="do not fit 6 and 6 heads"):
        matrix.head_matrix(divergence, 2, 3, 2, 3, names=("A", "B"))


@pytest.mark.parametrize("dark", [False, True])
def test_heads_that_do_the_same_stand_out(dark: bool) -> None:
    figure = matrix.head_matrix(np.eye(2, dtype=np.float32), 1, 2, 2, 1, names=("A", "B"), dark=dark)
    scale = figure.data[0].colorscale
    assert [place for place, _ in scale] == sorted(place for place, _ in scale)
    assert (scale[0][1], scale[-1][1]) == (sequential(dark)[-1][1], sequential(dark)[0][1])
    # 0.25 bits is half way to the other end.
    np.testing.assert_allclose(colour_at(scale, 0.25), colour_at(sequential(dark), 0.5), atol=0.5)
    marks = [shape for shape in figure.layout.shapes if shape.type == "rect" and shape.x0 == shape.x1]
    for mark in marks:
        assert mark.x0 / marks[-1].x0 == pytest.approx(np.sqrt(float(mark.label.text)), abs=0.01)


def test_two_large_models_fit_a_screen_and_a_message() -> None:
    figure = matrix.head_matrix(np.zeros((384, 144), dtype=np.float32), 24, 16, 12, 12, names=("A", "B"))
    assert figure.layout.height < 900
    assert len(figure.to_json()) < 384 * 144 * 4 * 4 / 3 + 40_000
