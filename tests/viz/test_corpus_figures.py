"""The figures of the page Corpus: every number says what it is, whose it is and how sure; a click says which head."""

import re

import numpy as np
import pytest

from model_zoo.types import DoubleArray
from viz.head_measure import Head, HeadMeasure
from viz.intervals import RelationScore, measure_dots, relation_dots
from viz.palette import sequential, theme
from viz.planes import head_scatter
from viz.relation_matrix import relation_matrix

HEADS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def measure(name: str, values: list[float], unit: str = "share of attention", width: float = 0.03) -> HeadMeasure:
    numbers = np.array(values)
    return HeadMeasure(name, numbers, numbers - width, numbers + width, unit)


BEFORE = measure("on the token before", [0.1, 0.61, 0.3, 0.05])
ENTROPY = measure("entropy", [2.5, 0.4, 1.0, 0.1], "bits")
SPECIAL = measure("on special tokens", [0.03, 0.2, np.nan, 0.8])


def model_of(n_layers: int, n_heads: int) -> list[Head]:
    return [(layer, head) for layer in range(n_layers) for head in range(n_heads)]


def noise(*shape: int) -> DoubleArray:
    return np.random.default_rng(0).uniform(size=shape)


def test_a_measure_says_its_number_with_interval_and_unit() -> None:
    assert BEFORE.number(1) == "<b>0.61</b> (0.58 to 0.64)"
    assert ENTROPY.number(0) == "<b>2.50</b> bits (2.47 to 2.53)"
    assert measure("obj", [0.5], "share of held-out words").number(0) == "<b>0.50</b> (0.47 to 0.53)"
    assert SPECIAL.number(2) == "not defined"
    assert measure("x", [0.0123], width=0.001).number(0) == "<b>0.0123</b> (0.0113 to 0.0133)"
    assert measure("x", [-0.5, 0.5]).format(-0.5) == "−0.50"
    # The range of a measure begins at zero and holds its intervals.
    assert BEFORE.limits == (0.0, 0.64)
    assert measure("x", [-0.5, 0.5], width=0.25).limits == (-0.75, 0.75)
    assert measure("x", [np.nan, np.nan]).limits == (0.0, 1.0)


def test_a_point_is_a_head_with_three_numbers() -> None:
    figure = head_scatter(HEADS, BEFORE, ENTROPY, SPECIAL)
    (points,) = figure.data
    assert points.type == "scatter"  # WebGL is not everywhere
    assert list(points.x) == [0.1, 0.61, 0.3, 0.05]
    assert list(points.y) == [2.5, 0.4, 1.0, 0.1]
    assert [tuple(point[:2]) for point in points.customdata] == HEADS
    assert points.text[1] == "Layer 1, head 2"
    assert list(points.customdata[1][2:]) == [point.number(1) for point in (BEFORE, ENTROPY, SPECIAL)]
    assert figure.layout.xaxis.title.text == "on the token before (share of attention)"
    assert figure.layout.yaxis.title.text == "entropy (bits)"
    # A head that an axis does not have is left out.
    figure = head_scatter(HEADS, SPECIAL, ENTROPY, BEFORE, chosen=2, matches=[1, 2])
    points, ring = figure.data
    assert [tuple(point[:2]) for point in points.customdata] == [(0, 0), (0, 1), (1, 1)]
    assert list(ring.text) == ["1.2"]
    with pytest.raises(ValueError, match="each of the 3 heads"):
        head_scatter(HEADS[:3], BEFORE, ENTROPY, SPECIAL)


@pytest.mark.parametrize("dark", [False, True])
def test_the_third_number_is_a_colour_that_a_bar_explains(dark: bool) -> None:
    figure = head_scatter(
        HEADS, measure("a", [1, 2, 3, 4]), ENTROPY, measure("b", [0, 1, np.nan, 2], width=0), dark=dark
    )
    colours = figure.data[0].marker.color
    scale = [colour for _, colour in sequential(dark)]
    assert colours == (scale[0], scale[16], theme(dark).background, scale[-1])  # the third is not known
    names = [shape.label.text for shape in figure.layout.shapes if shape.label.text]
    assert names == ["0", "1.00", "2.00", "colour: b (share of attention)"]
    lowest = min(shape.y0 for shape in figure.layout.shapes)
    assert figure.layout.margin.b >= -lowest  # the bar lies below the axis, within the figure


def test_the_chosen_head_and_those_found_have_outlines_names_and_a_legend() -> None:
    figure = head_scatter(HEADS, BEFORE, ENTROPY, SPECIAL, chosen=1, matches=[0, 2], matches_name="looks at “<b>”")
    points, chosen, matches = figure.data
    assert len({points.marker.symbol, chosen.marker.symbol, matches.marker.symbol, "circle"}) >= 3
    assert list(chosen.error_x.array) == pytest.approx([0.03])
    assert list(chosen.error_y.arrayminus) == pytest.approx([0.03])
    assert matches.error_x.array is None
    assert list(matches.text) == ["1.1", "2.1"]
    assert {chosen.hoverinfo, matches.hoverinfo} == {"skip"}  # a click meets the point within
    # Names of two points close by stand away from each other.
    near = measure("x", [0.5, 0.51, 0.0, 1.0])
    *_, matches = head_scatter(HEADS, near, near, near, matches=[0, 1]).data
    assert list(matches.textposition) == ["bottom left", "top right"]


VALUES = np.array([[0.1, 0.71, 0.2, 0.08], [0.4, 0.0, 0.3, 0.2]])
RELATIONS = ["obj: verb → object (206)", "nsubj: verb → subject (90)"]
BESIDE = {"best head": [0.71, 0.4], "best offset": [0.43, np.nan]}


def test_a_cell_is_a_head_and_says_how_often_it_finds_the_partner() -> None:
    figure = relation_matrix(HEADS, RELATIONS, VALUES, VALUES * 0.89, VALUES * 1.085, [1, 0], BESIDE, quantity="found")
    matrix, overlay, best, _, beside, numbers = figure.data
    assert matrix.z.tolist() == [[10, 71, 20, 8], [40, 0, 30, 20]]
    assert (matrix.zmin, matrix.zmax, matrix.colorscale) == (0, 100, sequential(False))
    data = {(y, x): tuple(row) for x, y, row in zip(overlay.x, overlay.y, overlay.customdata, strict=True)}
    assert data[0, 1] == (0, 0, 1, 1, 2, 71, 63, 77)  # relation, layer, head; as on the screen; percent, low, high
    assert overlay.marker.opacity == overlay.unselected.marker.opacity == 0
    assert list(zip(best.y, best.x, strict=True)) == [(0, 1), (1, 0)]
    assert list(figure.layout.yaxis.ticktext) == RELATIONS
    assert beside.z.tolist() == pytest.approx(np.array([[0.71, 0.43], [0.4, np.nan]]), nan_ok=True)
    assert list(numbers.text) == ["71%", "43%", "40%"]
    assert list(figure.layout.xaxis2.ticktext) == list(BESIDE)
    assert figure.layout.xaxis2.domain[1] < figure.layout.xaxis.domain[0]
    # Heads are grouped by layer.
    heads = [(0, 0), (0, 1), (0, 2), (1, 0)]
    layout = relation_matrix(heads, RELATIONS, VALUES, VALUES, VALUES, [1, 0], {}).layout
    assert list(layout.xaxis.tickvals) == [1, 3]
    assert list(layout.xaxis.ticktext) == ["1", "2"]
    lines = [shape for shape in layout.shapes if shape.type == "line"]
    assert [(shape.x0, shape.x1) for shape in lines] == [(2.5, 2.5)]
    figure = relation_matrix(HEADS, RELATIONS, VALUES, VALUES, VALUES, [1, 0], {}, chosen=(1, 2))
    assert [(trace.y, trace.x) for trace in figure.select_traces({"marker.symbol": "square-open"})] == [((1,), (2,))]
    with pytest.raises(ValueError, match="2 relations and 3 heads"):
        relation_matrix(HEADS[:3], RELATIONS, VALUES, VALUES, VALUES, [1, 0], {})
    with pytest.raises(ValueError, match="2 relations"):
        relation_matrix(HEADS, RELATIONS, VALUES, VALUES, VALUES, [1, 0], {"uniform": [0.1]})


def test_figures_of_large_models_are_light() -> None:
    measures = [measure(f"the longest name of a measure {number}", noise(384).tolist()) for number in range(3)]
    assert len(head_scatter(model_of(24, 16), *measures, chosen=3, matches=range(5)).to_json()) < 100_000
    values = noise(40, 144)
    names = [f"relation{at}: head → dependent (1,234)" for at in range(40)]
    beside = {name: values[:, 0].tolist() for name in ("best head", "best offset", "random weights", "uniform")}
    figure = relation_matrix(model_of(12, 12), names, values, values, values, [3] * 40, beside)
    assert len(figure.to_json()) < 200_000
    assert 40 * 18 < figure.layout.height < 40 * 30


ROWS = [
    RelationScore("obj", (2, 6), 206, 0.71, 0.64, 0.77, {"best offset": 0.43, "random weights": 0.22}),
    RelationScore("det", (0, 3), 500, 0.93, 0.9, 0.95, {"best offset": 0.95, "uniform attention": 0.1}, 0.97),
]


def test_relations_are_sorted_and_say_head_share_count_and_interval() -> None:
    figure = relation_dots(ROWS, quantity="found, of held-out words")
    best, *_ = figure.data
    assert list(best.x) == [0.93, 0.71]
    assert [tuple(row) for row in best.customdata] == [(1, 0, 3), (0, 2, 6)]
    assert best.hovertext[1] == "obj<br>Layer 3, head 7: <b>71.0%</b> of 206 (64.0% to 77.0%)"
    assert list(best.error_x.arrayminus) == pytest.approx([0.03, 0.07])
    assert [re.sub(r"\s+", " ", name) for name in figure.layout.yaxis.ticktext] == ["det 1.4", "obj 3.7"]
    # What a head is compared with has its own form and its name.
    traces = relation_dots(ROWS).data
    assert len({trace.marker.symbol for trace in traces}) == len(traces)
    assert list(traces[3].x) == [None, 0.22]
    assert list(traces[4].x) == [0.97, None]
    assert len(relation_dots(ROWS[:1]).data) == 3  # of one without several heads there is no such form
    figure = relation_dots([RelationScore(f"r{at}", (0, 0), 10, 0.5, 0.4, 0.6) for at in range(40)])
    assert figure.layout.height >= 40 * 20
    with pytest.raises(ValueError, match="no relation"):
        relation_dots([])


def test_a_head_stands_among_the_others_measure_by_measure() -> None:
    figure = measure_dots(HEADS, [BEFORE, ENTROPY, SPECIAL], 1)
    ticks, dots = figure.data
    assert list(dots.x) == pytest.approx([0.61 / 0.64, 0.4 / 2.53, 0.2 / 0.83])
    assert list(dots.error_x.array) == pytest.approx([0.03 / 0.64, 0.03 / 2.53, 0.03 / 0.83])
    assert list(dots.hovertext) == [f"{measure.name}: {measure.number(1)}" for measure in (BEFORE, ENTROPY, SPECIAL)]
    assert dots.name == "Layer 1, head 2"
    of_special = [tuple(head) for row, head in zip(ticks.y, ticks.customdata, strict=True) if row == 2]
    assert of_special == [(0, 0), (1, 1)]  # neither the head itself, nor the one that has no such number
    assert ticks.hovertext[0] == "Layer 1, head 1: 0.10"
    assert [note.text for note in figure.layout.annotations] == ["0", "0.64", "0", "2.53", "0", "0.83"]
    figure = measure_dots(HEADS, [SPECIAL], 2)
    assert list(figure.data[1].x) == []
    assert figure.layout.yaxis.ticktext[0].endswith("not defined")
    with pytest.raises(ValueError, match="at least one measure"):
        measure_dots(HEADS, [], 0)
