"""Matrices: heatmaps, the grid of all heads, cells."""

import json
from dataclasses import replace

import numpy as np
import pytest
from measured_results import MAP
from on_screen import unpacked

from analysis.thumbnails import Thumbnails, thumbnails
from model_zoo.types import FloatArray
from viz import component, matrix, planes
from viz.bars import waterfall
from viz.cells import cells
from viz.curves import Ranking, rho_by_layer
from viz.grid import grid
from viz.heatmap import Payload, heatmap
from viz.layout import visible_text
from viz.matrix import cosine_matrix, matrices
from viz.palette import sequential
from viz.planes import cka_by_layer, learning_plane, sentence_plane

NAMES, AXES = (["x", "y"], ["p", "q"]), ("row", "column")
ONE = np.array([[0.5, 0.0], [0.25, 1.0]], dtype=np.float32)


def test_all_are_drawn_on_one_scale() -> None:
    figure = matrices([("a", ONE), ("b", ONE * 4)], *NAMES, quantity="share", axes=AXES)
    assert [trace.zmax for trace in figure.data] == [4, 4]
    assert [trace.zmin for trace in figure.data] == [0, 0]
    assert figure.data[1].z.tolist() == (ONE * 4).tolist()
    assert ["<b>a</b>" in figure.layout.xaxis.title.text, "<b>b</b>" in figure.layout.xaxis2.title.text] == [True, True]
    assert figure.data[0].text[1][0] == "y → p"
    (trace,) = matrices([("a", -ONE)], *NAMES, quantity="bias", axes=AXES, signed=True).data
    assert (trace.zmin, trace.zmax) == (-1, 1)
    # Small shares can be told apart by their root.
    (plain,) = matrices([("a", ONE)], *NAMES, quantity="share", axes=AXES).data
    (bent,) = matrices([("a", ONE)], *NAMES, quantity="share", axes=AXES, root=True).data
    assert bent.z.tolist() == plain.z.tolist()  # the numbers on hovering stay exact
    assert [stop for stop, _ in bent.colorscale] == pytest.approx([stop**2 for stop, _ in plain.colorscale])
    # Several side by side have fewer labels each.
    names = [str(at) for at in range(16)]
    three = [(name, np.ones((16, 16), dtype=np.float32)) for name in "abc"]
    figure = matrices(three, names, names, quantity="share", axes=AXES)
    assert len(figure.layout.yaxis.tickvals) == 16
    assert len(figure.layout.xaxis2.tickvals) == 6
    with pytest.raises(ValueError, match="1 rows"):
        matrices([("a", ONE)], ["x"], ["p", "q"], quantity="share", axes=AXES)


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
    # Similarity of two models has embeddings first and each model's own layers.
    values = np.array([[1, 0.5, 0.2], [0.4, 0.9, 0.3]], dtype=np.float32)
    figure = matrix.similarity(values, ("Small", "Large"))
    np.testing.assert_array_equal(figure.data[0].z, values)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    assert figure.layout.yaxis.ticktext == ("embeddings", "1")
    assert figure.layout.xaxis.ticktext == ("embeddings", "1", "2")


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
    assert figure.layout.sliders[0].active == 2
    figure = learning_plane(POINTS, (0.6, 0.25), ["0", "1", "2"], TEXTS, [0.0, 5.0, 2.5, 1.0])
    (only,) = figure.data
    assert list(only.marker.color) == [0.0, 5.0, 2.5, 1.0]
    assert only.marker.showscale
    with pytest.raises(ValueError, match="a text and a group each"):
        learning_plane(POINTS, (0.6, 0.25), ["0", "1", "2"], TEXTS, ["a"])
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
    with pytest.raises(ValueError, match="do not fit 2 sentences"):
        cosine_matrix(COSINES, LINES[:2])
    figure = sentence_plane(np.array([[0, 1], [2, 3], [4, 5]], dtype=np.float32), (0.7, 0.2), LINES)
    assert list(figure.data[0].x) == [0, 2, 4]
    assert list(figure.data[0].text) == ["1", "2", "3"]
    assert "70%" in figure.layout.xaxis.title.text


def test_a_line_for_each_ranking_and_a_colour_for_each_name() -> None:
    nan = float("nan")
    of_mean = Ranking("Mean", False, [(0, 0.1, 0.0, 0.2), (1, 0.6, 0.5, 0.7)])
    without = Ranking("Mean", True, [(0, nan, nan, nan), (1, 0.7, 0.6, 0.8)])
    figure = rho_by_layer([of_mean, without, Ranking("<s>", False, [(0, 0.0, -0.1, 0.1)])], "removed")
    mean, removed, cls = figure.data
    assert list(mean.y) == [0.1, 0.6]
    assert list(mean.customdata[1]) == [0.5, 0.7]
    assert list(removed.y) == [None, 0.7]  # a gap
    assert mean.line.color == removed.line.color != cls.line.color
    assert list(figure.layout.xaxis.ticktext) == ["embeddings", "1"]
    with pytest.raises(ValueError, match="nothing to draw"):
        rho_by_layer([], "removed")


VALUES = np.array([[1.0, -2.0], [0.0, np.nan]])
SIDES = {"down": "layer", "across": "word"}


def test_what_a_map_is_drawn_from() -> None:
    made = cells(VALUES, ["1", "2"], ["cat", "a\u200bb"], quantity="bits", **SIDES, picked=[(1, 0), (0, 1)], pick=True)
    assert np.frombuffer(made["weights"], dtype="<f4").reshape(2, 2) == pytest.approx(VALUES, nan_ok=True)
    assert made["picked"] == [(1, 0), (0, 1)]
    assert made["columns"][1] == visible_text("a\u200bb")
    assert made["ends"] == [2.0, 2.0]
    assert made["marks"] == [(0.0, "−2"), (0.5, "0"), (1.0, "+2")]
    json.dumps({name: value for name, value in made.items() if name != "weights"})
    # A scale may be of each row and begin at zero.
    values = np.array([[1.0, 4.0], [0.0, 0.0]])
    alone = cells(values, ["1", "2"], ["a", "b"], quantity="x", **SIDES, each_row=True, signed=False)
    assert alone["ends"] == [4.0, 1.0]
    assert alone["marks"] == [(0.0, "0"), (1.0, "largest")]
    assert cells(VALUES, ["1", "2"], ["a", "b"], quantity="x", **SIDES, end=5)["ends"] == [5.0, 5.0]
    for rows, columns in ((1, 2), (2, 3), (0, 2)):
        with pytest.raises(ValueError, match="are wanted"):
            cells(np.zeros((rows, columns)), ["1", "2"][:rows], ["a"], quantity="x", **SIDES)


def test_a_sum_goes_from_part_to_part() -> None:
    (bar,) = waterfall([("token", 2.0, ""), ("head", -3.0, "raises <i>"), ("bias", 0.5, "")], "logit").data
    assert list(bar.base) == [0.0, 2.0, -1.0, 0.0]
    assert list(bar.x) == [2.0, -3.0, 0.5, -0.5]
    assert "raises &#60;i&#62;" in bar.hovertext[1]
    assert bar.text[1] == "−3.00"
    with pytest.raises(ValueError, match="no parts"):
        waterfall([], "logit")


TWO: FloatArray = np.array([[0.25, 0.75], [0.98, 0.02]], dtype=np.float32)


def sent(picture: Payload) -> FloatArray:
    """The numbers as the browser gets them, (numbers, queries, keys)."""
    _, weights = unpacked(component.pack(picture))
    shape = len(picture["numbers"]), len(picture["queries"]), len(picture["keys"])
    return np.frombuffer(weights, dtype="<f4").reshape(shape)


def test_the_exact_weights_are_sent() -> None:
    np.testing.assert_array_equal(sent(heatmap(TWO, ["a", "b"], ["a", "b"])), TWO[None])
    np.testing.assert_array_equal(sent(heatmap(TWO.T, ["a", "b"], ["a", "b"]))[0], TWO.T)
    n = 128
    packed = component.pack(heatmap(np.full((n, n), 1 / n, np.float32), ["token"] * n, ["token"] * n))
    assert len(packed) < n * n * 4 + 20 * n + 2_000
    tokens = ["<script>", "&lt;", "%{x}", "שלום", "Ġthe", "a\u200db", "x" * 50]
    header, _ = unpacked(component.pack(heatmap(np.eye(7, dtype=np.float32), tokens, tokens)))
    assert header["queries"] == header["keys"] == tokens
    unseen = ["\ud800", "\x00", " ", "\uffff"]
    header, _ = unpacked(component.pack(heatmap(np.eye(4, dtype=np.float32), unseen, unseen)))
    assert header["keys"] == ["⟨U+D800⟩", "⟨U+0000⟩", "␣", "⟨U+FFFF⟩"]


def test_one_scale_for_every_head_in_both_themes() -> None:
    for weights in (TWO, TWO / 10):
        picture = heatmap(weights, ["a", "b"], ["a", "b"])
        assert picture["limits"] == (0, 1)
        assert picture["bend"] == "root"
        assert picture["scale"] == [colour for _, colour in sequential(dark=False)]
        assert picture["dark_scale"] == [colour for _, colour in sequential(dark=True)]
    # Stretch ends the scale at the largest weight.
    picture = heatmap(TWO / 2, ["a", "b"], ["a", "b"], stretch=True)
    assert picture["limits"] == (0, pytest.approx(0.49))
    for place, name in picture["marks"]:
        assert place == pytest.approx(np.sqrt(float(name) / 0.49), abs=1e-3)
    assert picture["marks"][-1][1] == "0.49"
    assert heatmap(np.zeros((2, 2), np.float32), ["a", "b"], ["a", "b"], stretch=True)["limits"] == (0, 1)
    # The colour bar names weights at the place of their root and says so.
    picture = heatmap(TWO, ["a", "b"], ["a", "b"], quantity="share of attention")
    marks = {float(name): place for place, name in picture["marks"]}
    assert (marks[0], marks[0.2], marks[1]) == (0, pytest.approx(np.sqrt(0.2)), 1)
    assert min(np.diff(sorted(marks.values()))) * 180 > 22  # px: two labels beside each other
    assert picture["title"] == "share of attention (square-root scale)"


def test_segments_are_those_of_every_token_or_of_none_and_special_ones_have_places() -> None:
    weights = np.full((2, 2), 0.5, dtype=np.float32)
    made = heatmap(weights, ["a", "b"], ["c", "d"], query_segments=[0, 1], key_segments=[0, 0], height=440, group="g")
    assert (made["query_segments"], made["key_segments"]) == ([0, 1], [0, 0])
    assert (made["height"], made["group"]) == (440, "g")
    special = heatmap(weights, ["a", "[SEP]"], ["[CLS]", "d"], special_queries=[1], special_keys=[0], number="norm")
    assert (special["special_queries"], special["special_keys"]) == ([1], [0])
    assert special["numbers"] == [{"name": "norm", "signed": False}]
    with pytest.raises(ValueError, match="every token or for none"):
        heatmap(weights, ["a", "b"], ["c", "d"], query_segments=[0])
    for shape in ((1, 2), (2, 1), (2, 3)):
        with pytest.raises(ValueError, match="do not fit 2 queries and 2 keys"):
            heatmap(np.zeros(shape, np.float32), ["a", "b"], ["a", "b"])


def maps(heads: int, rows: int, columns: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).random((heads, rows, columns), dtype=np.float32)


@pytest.fixture
def small() -> Thumbnails:
    """Two layers of three heads and of one; three queries look at 70 keys."""
    return thumbnails([maps(3, 3, 70), maps(1, 3, 70)])


def test_every_thumbnail_is_sent_as_it_is(small: Thumbnails) -> None:
    header, sent = unpacked(component.pack(grid(small, (0, 0))))
    assert header["shape"] == [2, 3, 3, 64]
    np.testing.assert_array_equal(np.frombuffer(sent, np.uint8).reshape(small.pixels.shape), small.pixels)
    header, _ = unpacked(component.pack(grid(small, (1, 0), serial=2, group="attention")))
    assert header["heads"] == [3, 1]
    assert header["tokens"] == [3, 70]
    assert (header["selected"], header["serial"], header["group"]) == ([1, 0], 2, "attention")
    # Another head changes no byte of the pictures.
    first, second = (unpacked(component.pack(grid(small, (0, head)))) for head in (0, 2))
    assert first[1] == second[1]
    assert first[0] | {"selected": [0, 2]} == second[0]
    long = thumbnails([maps(12, 128, 128)] * 6)
    assert len(component.pack(grid(long, (0, 0)))) < 6 * 12 * 64 * 64 + 2_000

    for shape in ((2, 0, 0), (0, 2, 2)):
        with pytest.raises(ValueError, match="no head or no token"):
            grid(thumbnails([np.zeros(shape, np.float32)]), (0, 0))


def test_colours_and_their_bar_are_the_heatmaps(small: Thumbnails) -> None:
    ours, its = grid(small, (0, 0), quantity="share"), heatmap(maps(1, 1, 1)[0], ["a"], ["a"], quantity="share")
    assert (ours["scale"], ours["dark_scale"]) == (its["scale"], its["dark_scale"])
    assert (ours["marks"], ours["title"]) == (its["marks"], its["title"])
    picture = grid(thumbnails([np.full((1, 2, 2), 4, np.float32)], shares=False), (0, 0))
    assert picture["marks"][-1] == (1.0, "4")
    assert grid(small, (0, 0))["names"] == ["layer", "head"]
    row = thumbnails([maps(1, 4, 4)] * 3).in_a_row()
    picture = grid(row, (0, 2), names=("layer",))
    assert (picture["names"], picture["heads"], picture["shape"][:2]) == (["layer"], [3], (1, 3))
