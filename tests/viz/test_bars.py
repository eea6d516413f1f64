"""Bars, sums as waterfalls, vectors as strips: the numbers, each at its name, on one scale."""

import numpy as np
import pytest

from viz import matrix, outcome
from viz.bars import bars, label_bars, ranking
from viz.layout import percent
from viz.palette import categorical
from viz.strips import Strip, strips


def test_the_largest_number_is_as_long_as_the_picture_unless_there_is_a_top() -> None:
    figure = bars(["a", "b"], [("length", [1, 4])])
    assert list(figure.data[0].x) == [1, 4]
    assert figure.layout.xaxis.range[1] == pytest.approx(4.08)
    assert bars(["a"], [("share", [0.25])], top=1).layout.xaxis.range[1] == pytest.approx(1.02)
    assert bars(["a"], [("share", [0.0])]).layout.xaxis.range[1] == pytest.approx(1.02)
    (single,) = bars(["a", "b"], [("length", [1, 4])], marked=1).data
    assert single.marker.color[0] != single.marker.color[1]
    with pytest.raises(ValueError, match="2 names"):
        bars(["a", "b"], [("length", [1])])
    figure = label_bars(["bad", "<b>good</b>", "so so"], [0.2, 0.7, 0.1])
    (shares,) = figure.data
    assert list(shares.x) == [0.7, 0.2, 0.1]
    assert list(shares.text) == ["70%", "20%", "10%"]
    assert list(figure.layout.yaxis.ticktext) == ["&#60;b&#62;good&#60;/b&#62;", "bad", "so so"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the first on top
    assert shares.marker.color[0] != shares.marker.color[1] == shares.marker.color[2]
    for wrong in ([0.5], [0.5, 0.3, 0.2]):
        with pytest.raises(ValueError, match="for 2 labels"):
            label_bars(["a", "b"], wrong)
    shares = {0: "0%", 1: "100%", 0.573: "57%", 0.0769: "7.7%", 0.0031: "0.31%", 1e-7: "1e-05%"}
    assert [percent(share) for share in shares] == list(shares.values())


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
    assert ranking([(0, 0)], [0.01], [0.5], "x").layout.xaxis.range[1] > 0.5
    assert ranking([(0, 0)], [0.0], [0.0], "x").layout.xaxis.range[1] > 0


LONG = np.linspace(-1, 1, 8, dtype=np.float32)
SHORT = np.array([0.5, -0.25], dtype=np.float32)


def test_every_number_stands_in_its_row() -> None:
    figure = strips([Strip("x", LONG), Strip("q", SHORT, ["first", "second"], "=")])
    assert [trace.z[0].tolist() for trace in figure.data] == [LONG.tolist(), SHORT.tolist()]
    assert [list(trace.y) for trace in figure.data] == [[0], [1]]
    assert figure.data[1].text[0][1] == "q, dimension 2: <b>−0.25</b><br>second"
    assert figure.layout.yaxis.ticktext[1] == "&nbsp;&nbsp;= <b>q</b><br><sub>2 numbers</sub>"
    # A strip is as long as its vector beside the longest.
    full, part, short = strips([Strip("a", LONG), Strip("b", LONG[:4]), Strip("c", LONG[:1])]).data
    assert [trace.dx * trace.z.shape[1] for trace in (full, part, short)] == pytest.approx([1, 0.5, 0.25])
    assert full.x0 == pytest.approx(full.dx / 2)
    # One large number does not fade the others.
    values = np.ones(100, dtype=np.float32)
    values[7] = 100
    (trace,) = strips([Strip("x", values)]).data
    assert trace.zmax == -trace.zmin == pytest.approx(np.percentile(values, 98))
    (zeros,) = strips([Strip("x", np.zeros(3, dtype=np.float32))]).data
    assert zeros.zmax == 1
    figure = strips([Strip("context", LONG, ends=(2, 4, 6))])
    assert [shape.x0 for shape in figure.layout.shapes if shape.type == "line"] == pytest.approx([0.25, 0.5, 0.75])
    with pytest.raises(ValueError, match="no numbers"):
        strips([])


def test_tagged_words_have_the_colour_of_their_type_and_what_is_true_where_it_is_not() -> None:
    tags, gold = ("B-NAME", "I-NAME", "O", "B-PLACE"), ("B-NAME", "I-NAME", "B-PLACE", "B-PLACE")
    line = outcome.tag_line(
        ("Ann", "Lee", "likes", "Oslo"), tags, (0.9, 0.8, 0.7, 0.6), ["NAME", "PLACE"], gold=gold, label="Words"
    )
    name, place = categorical(2, False)
    assert [item.cells[0].fill for item in line.items] == [name, name, None, place]
    assert [item.cells[1].text for item in line.items] == ["B-NAME", "I-NAME", "·", "B-PLACE"]
    assert [item.marked for item in line.items] == [False, False, True, False]
    line = outcome.piece_line(["[CLS]", "os", "##lo"], [None, "B-PLACE", None], label="Tokens")
    texts = [cell.text for item in line.items for cell in item.cells]
    assert texts == ["[CLS]", "−100", "os", "B-PLACE", "##lo", "−100"]
    assert [item.marked for item in line.items] == [False, True, False]


def test_spans_scores_shade_the_best_span_and_mark_half_of_no_answer() -> None:
    figure = outcome.span_scores(["in", "Os", "##lo"], [0.0, 4.0, 1.0], [-1.0, 0.0, 3.0], (1, 2), 2.0)
    start, end = figure.data
    assert (list(start.y), list(end.y)) == ([0.0, 4.0, 1.0], [-1.0, 0.0, 3.0])
    shade, line = figure.layout.shapes
    assert (shade.x0, shade.x1) == (0.5, 2.5)
    assert (line.y0, line.y1) == (1.0, 1.0)
    without = outcome.span_scores(["in"], [0.0], [0.0], None, 2.0)
    assert len(without.layout.shapes) == 1
    # Of a long passage the highest scores are named.
    rng = np.random.default_rng(0)
    start, end = rng.normal(size=(2, 150))
    start[77] = end[83] = 9.0
    axis = outcome.span_scores([f"t{n}" for n in range(150)], list(start), list(end), (77, 83), 0.0).layout.xaxis
    places = list(axis.tickvals)
    assert {77, 83} <= set(places)
    assert len(places) <= 26
    assert min(np.diff(places)) >= 6
    assert list(axis.ticktext) == [f"t{place}" for place in places]
    short = outcome.span_scores(["a"] * 26, [0.0] * 26, [0.0] * 26, (3, 4), 0.0).layout.xaxis
    assert list(short.tickvals) == list(range(26))


def test_confusion_is_coloured_by_the_share_of_the_true_label_and_counts_are_written() -> None:
    figure = matrix.confusion(np.array([[3, 1], [0, 0]]), ["a", "b"])
    heat, numbers = figure.data
    np.testing.assert_allclose(heat.z, [[0.75, 0.25], [0, 0]])
    assert list(zip(numbers.x, numbers.y, numbers.text, strict=True)) == [
        (0, 0, "3"), (1, 0, "1"), (0, 1, "0"), (1, 1, "0"),
    ]  # fmt: skip
    assert list(figure.layout.yaxis.range) == [1.5, -0.5]  # the first label on top
    assert heat.customdata[0][1] == "a predicted as b: 1"
    figure = matrix.confusion(np.eye(20, dtype=np.int64), [f"label {number}" for number in range(20)])
    assert [trace.type for trace in figure.data] == ["heatmap"]
    with pytest.raises(ValueError, match="2 labels need a matrix of their size"):
        matrix.confusion(np.eye(3, dtype=np.int64), ["a", "b"])
