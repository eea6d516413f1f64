"""What a tuned model answers, as figures and lines: every number is where it belongs."""

from __future__ import annotations

import numpy as np
import pytest

from viz import matrix, outcome
from viz.bars import label_bars
from viz.palette import categorical


def test_bars_of_labels_are_in_order_and_in_range() -> None:
    figure = label_bars(["bad", "<b>good</b>", "so so"], [0.2, 0.7, 0.1])
    (bars,) = figure.data
    assert list(bars.x) == [0.7, 0.2, 0.1]
    assert list(bars.text) == ["70%", "20%", "10%"]
    assert list(figure.layout.yaxis.ticktext) == ["&#60;b&#62;good&#60;/b&#62;", "bad", "so so"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the first on top
    assert len(set(bars.marker.color)) == 2
    assert bars.marker.color[1] == bars.marker.color[2]


@pytest.mark.parametrize("shares", [[0.5], [0.5, 0.3, 0.2]])
def test_each_label_has_a_share(shares: list[float]) -> None:
    with pytest.raises(ValueError, match=r"probabilities for 2 labels"):
        label_bars(["a", "b"], shares)


def test_tagged_words_have_the_colour_of_their_type_and_what_is_true_where_it_is_not() -> None:
    tags, gold = ("B-NAME", "I-NAME", "O", "B-PLACE"), ("B-NAME", "I-NAME", "B-PLACE", "B-PLACE")
    line = outcome.tag_line(
        ("Ann", "Lee", "likes", "Oslo"), tags, (0.9, 0.8, 0.7, 0.6), ["NAME", "PLACE"], gold=gold, label="Words"
    )
    name, place = categorical(2, False)
    assert [item.cells[0].fill for item in line.items] == [name, name, None, place]
    assert [item.cells[1].text for item in line.items] == ["B-NAME", "I-NAME", "·", "B-PLACE"]
    assert [item.marked for item in line.items] == [False, False, True, False]
    assert line.items[2].cells[2].text == "is B-PLACE"
    assert line.items[0].title == "Ann: B-NAME, 90%"


def test_pieces_show_what_is_learnt_of_them() -> None:
    line = outcome.piece_line(["[CLS]", "os", "##lo"], [None, "B-PLACE", None], label="Tokens")
    assert [[cell.text for cell in item.cells] for item in line.items] == [
        ["[CLS]", "−100"],
        ["os", "B-PLACE"],
        ["##lo", "−100"],
    ]
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


def test_of_a_long_passage_the_highest_scores_are_named() -> None:
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


def test_confusion_of_many_labels_has_no_numbers_in_it() -> None:
    figure = matrix.confusion(np.eye(20, dtype=np.int64), [f"label {number}" for number in range(20)])
    assert [trace.type for trace in figure.data] == ["heatmap"]
    with pytest.raises(ValueError, match="2 labels need a matrix of their size"):
        matrix.confusion(np.eye(3, dtype=np.int64), ["a", "b"])
