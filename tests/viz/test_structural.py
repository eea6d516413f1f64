"""Figures of the structural probe: scores with intervals and baselines, and two trees over the same words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from measured_results import TREES

from analysis.probing import StructuralResult
from analysis.probing.structural_results import Estimate, ParsedSentence, Scores
from viz import structural


def scores(uuas: float, spearman: float | None = 0.7) -> Scores:
    order = None if spearman is None else Estimate(spearman, spearman - 0.1, spearman + 0.1)
    return Scores(
        uuas=Estimate(uuas, uuas - 0.05, uuas + 0.1), distance_spearman=order, root_accuracy=Estimate(0.25, 0.2, 0.3),
        depth_spearman=order,
    )  # fmt: skip


def result(*uuas: float, untrained: float | None = 0.3, spearman: float | None = 0.7) -> StructuralResult:
    random = None if untrained is None else scores(untrained, spearman)
    layers = tuple(
        replace(TREES.layers[0], layer=i, scores=scores(value, spearman), development_uuas=value, untrained=random)
        for i, value in enumerate(uuas)
    )
    return replace(TREES, chain=scores(0.4, spearman), layers=layers, uuas_of_seeds=(uuas,), sentences=())


def traces(figure: go.Figure, axis: str) -> dict[str, go.Scatter]:
    return {trace.name: trace for trace in figure.data if trace.yaxis == axis}


@pytest.mark.parametrize("dark", [False, True])
def test_scores_intervals_and_baselines_by_layer(dark: bool) -> None:
    figure = structural.by_layer(result(0.5, 0.8), dark=dark)
    upper, lower = traces(figure, "y"), traces(figure, "y2")
    assert set(upper) == set(lower) == {"this model", "random weights", "chain of words"}
    assert tuple(upper["this model"].y) == (0.5, 0.8)
    np.testing.assert_allclose(upper["this model"].error_y.array, 0.1)
    np.testing.assert_allclose(upper["this model"].error_y.arrayminus, 0.05)
    assert tuple(upper["random weights"].y) == (0.3, 0.3)
    assert tuple(upper["chain of words"].y) == (0.4, 0.4)
    assert tuple(lower["this model"].y) == (0.7, 0.7)
    # Told apart without colours, too.
    assert len({trace.line.dash for trace in upper.values()}) == len({t.marker.symbol for t in upper.values()}) == 3
    assert len({trace.line.color for trace in upper.values()}) == 3
    assert figure.layout.xaxis.ticktext == ("embeddings", "1")
    assert figure.layout.yaxis.title.text == "UUAS"


def test_the_depth_probe_has_its_own_scores() -> None:
    figure = structural.by_layer(result(0.5, 0.8), "depth")
    assert tuple(traces(figure, "y")["this model"].y) == (0.25, 0.25)
    assert figure.layout.yaxis.title.text == "root found"


def test_what_was_not_measured_is_not_drawn() -> None:
    figure = structural.by_layer(result(0.5, untrained=None, spearman=None))
    assert set(traces(figure, "y")) == {"this model", "chain of words"}
    assert not traces(figure, "y2")
    assert [note.text for note in figure.layout.annotations] == ["no test sentence has 5 to 50 words"]


def test_a_correlation_below_zero_is_inside_the_panel() -> None:
    figure = structural.by_layer(result(0.5, spearman=-0.4))
    assert figure.layout.yaxis2.range[0] < -0.5
    assert figure.layout.yaxis.range[0] == 0


PARSED = ParsedSentence(
    text="<b>The</b> cat saw dogs.", words=("<b>The</b>", "cat", "saw", "dogs", "."),
    punctuation=(False, False, False, False, True), edges=((0, 1), (1, 2), (2, 3)), root=2,
    recovered=(((0, 1), (1, 2), (1, 3)), ((0, 1), (1, 2), (2, 3))), roots=(1, 2),
)  # fmt: skip


def arcs(trace: go.Scatter) -> set[tuple[float, float]]:
    """First and last y of each of a trace's arcs."""
    y = [None if value is None or np.isnan(value) else round(float(value), 6) for value in trace.y]
    ends = [place for place, value in enumerate(y) if value is None]
    starts = [0, *(place + 1 for place in ends[:-1])]
    return {(y[a], y[b - 1]) for a, b in zip(starts, ends, strict=True)}  # type: ignore[misc]


@pytest.mark.parametrize("dark", [False, True])
def test_right_and_wrong_edges_are_told_apart_by_line_too(dark: bool) -> None:
    figure = structural.trees(PARSED, 0, dark=dark)
    lines = {(trace.xaxis, trace.name): trace for trace in figure.data if trace.mode == "lines"}
    drawn = {key: arcs(trace) for key, trace in lines.items()}
    assert drawn == {
        ("x", "in the tree and found"): {(0, 1), (1, 2)},
        ("x", "in the tree, not recovered"): {(2, 3)},
        ("x2", "in the tree and found"): {(0, 1), (1, 2)},
        ("x2", "recovered, not in the tree"): {(1, 3)},
    }
    dashes = {name: trace.line.dash for (_, name), trace in lines.items()}
    assert len(set(dashes.values())) == 3
    wrong = lines[("x2", "recovered, not in the tree")]
    assert "cat – dogs" in wrong.text[0]
    roots = {trace.xaxis: trace for trace in figure.data if trace.mode == "markers"}
    assert tuple(roots["x"].y) == (2,)
    assert roots["x"].marker.symbol == "diamond"
    assert tuple(roots["x2"].y) == (1,)
    assert roots["x2"].marker.symbol == "diamond-open"
    written = [note.text for note in figure.layout.annotations]
    assert written[:2] == ["&#60;b&#62;The&#60;/b&#62;", "cat"]
    assert written[-1] == "found at the embeddings"


def test_a_tree_that_is_found_has_no_wrong_edge() -> None:
    figure = structural.trees(PARSED, 1)
    lines = {(trace.xaxis, trace.name): trace for trace in figure.data if trace.mode == "lines"}
    assert not lines[("x2", "recovered, not in the tree")].x
    assert not lines[("x", "in the tree, not recovered")].x
    assert {trace.marker.symbol for trace in figure.data if trace.mode == "markers"} == {"diamond"}
    assert structural.trees(replace(PARSED, root=None), 1).data  # a root inside a multiword token
    with pytest.raises(ValueError, match="layer 2 of 2"):
        structural.trees(PARSED, 2)
