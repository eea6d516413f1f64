"""Figures of layer probing, of words and of trees: the numbers in them are the results'."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from measured_results import TASK, TREES

from analysis.probing import Baseline, StructuralResult, TaskResult
from analysis.probing.structural_results import Estimate, ParsedSentence, Scores
from viz import curves, probing, structural


def result(accuracies: list[float], words: float | None = None, *, seeds: tuple[float, ...] = ()) -> TaskResult:
    layers = tuple(
        replace(
            TASK.layers[0], layer=i, accuracy=a, low=a - 0.1, high=a + 0.05, development_accuracy=a,
            untrained_accuracy=0.45, selectivity=a - 0.5,
        )
        for i, a in enumerate(accuracies)
    )  # fmt: skip
    of_words = [Baseline("bag of words", words, words - 0.1, words + 0.1, 0.01)] if words is not None else []
    return replace(
        TASK,
        baselines=(Baseline("majority", 0.5, 0.4, 0.6, 0.01), *of_words),
        layers=layers,
        p=((1.0,) * len(layers),) * len(layers),
        accuracies=(tuple(accuracies), *((seed,) * len(layers) for seed in seeds)),
    )


def test_picture_shows_accuracy_interval_and_both_baselines() -> None:
    figure = probing.layers_by_tasks([result([0.5, 0.75]), result([0.8], 0.6)], ["One", "<b>Two"])
    shades = figure.data[0].z
    # majority, best without a model, embeddings, layer 1: (accuracy - 0.5) / 0.5
    np.testing.assert_allclose(shades[0], [0, 0, 0, 0.5], atol=1e-6)
    np.testing.assert_allclose(shades[1], [0, 0.2, 0.6, np.nan], atol=1e-6)
    texts = {(a.x, a.y): a.text for a in figure.layout.annotations}
    assert texts[(0, 0)] == "50"
    assert texts[(1, 1)] == "60"
    assert texts[(3, 0)].startswith("<b>75</b><br>")  # the best layer
    assert texts[(2, 0)].startswith("50<br>")
    assert "65–80" in texts[(3, 0)]
    assert "bag of words: 60.0 %" in figure.data[0].text[1][1]
    assert "random weights 45.0 %" in figure.data[0].text[0][3]
    assert figure.layout.xaxis.ticktext == ("majority", "no model", "embeddings", "1")
    assert probing.layers_by_tasks([], []).data[0].z.shape == (0, 3)


def test_curve_has_interval_baselines_and_control() -> None:
    figure = curves.probe_curve(result([0.5, 0.75], 0.6, seeds=(0.55, 0.7)), "One")
    traces = {trace.name: trace for trace in figure.data}
    assert set(traces) == {"3 seeds", "accuracy", "majority", "bag of words", "random weights", "control task"}
    assert tuple(traces["3 seeds"].y) == (0.7, 0.75, 0.55, 0.5)  # along the highest, back along the lowest
    assert tuple(traces["random weights"].y) == (0.45, 0.45)
    np.testing.assert_allclose(traces["accuracy"].error_y.array, [0.05, 0.05])
    np.testing.assert_allclose(traces["accuracy"].error_y.arrayminus, [0.1, 0.1])
    assert tuple(traces["majority"].y) == (0.5, 0.5)
    assert tuple(traces["bag of words"].y) == (0.6, 0.6)


def test_a_large_picture_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plotly checks all annotations there are whenever one is added, which for 90 cells took a second."""
    checked = 0
    plain = go.layout.Annotation.__init__

    def counted(self: go.layout.Annotation, *args: Any, **kwargs: Any) -> None:
        nonlocal checked
        checked += 1
        plain(self, *args, **kwargs)

    monkeypatch.setattr(go.layout.Annotation, "__init__", counted)
    figure = probing.layers_by_tasks([result([0.5] * 7)] * 9, ["A task"] * 9)
    written = len(figure.layout.annotations)
    assert written == 9 * 9
    assert checked <= 3 * written


def scores(uuas: float, spearman: float | None = 0.7) -> Scores:
    order = None if spearman is None else Estimate(spearman, spearman - 0.1, spearman + 0.1)
    return Scores(
        uuas=Estimate(uuas, uuas - 0.05, uuas + 0.1), distance_spearman=order, root_accuracy=Estimate(0.25, 0.2, 0.3),
        depth_spearman=order,
    )  # fmt: skip


def trees(*uuas: float, untrained: float | None = 0.3, spearman: float | None = 0.7) -> StructuralResult:
    random = None if untrained is None else scores(untrained, spearman)
    layers = tuple(
        replace(TREES.layers[0], layer=i, scores=scores(value, spearman), development_uuas=value, untrained=random)
        for i, value in enumerate(uuas)
    )
    return replace(TREES, chain=scores(0.4, spearman), layers=layers, uuas_of_seeds=(uuas,), sentences=())


def traces(figure: go.Figure, axis: str) -> dict[str, go.Scatter]:
    return {trace.name: trace for trace in figure.data if trace.yaxis == axis}


def test_scores_intervals_and_baselines_by_layer() -> None:
    figure = structural.by_layer(trees(0.5, 0.8))
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
    # The depth probe has its own scores.
    figure = structural.by_layer(trees(0.5, 0.8), "depth")
    assert tuple(traces(figure, "y")["this model"].y) == (0.25, 0.25)
    # What was not measured is not drawn.
    figure = structural.by_layer(trees(0.5, untrained=None, spearman=None))
    assert set(traces(figure, "y")) == {"this model", "chain of words"}
    assert not traces(figure, "y2")
    assert len(figure.layout.annotations) == 1  # which says why
    # A correlation below zero is inside the panel.
    figure = structural.by_layer(trees(0.5, spearman=-0.4))
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


def test_right_and_wrong_edges_are_told_apart_by_line_too() -> None:
    figure = structural.trees(PARSED, 0)
    lines = {(trace.xaxis, trace.name): trace for trace in figure.data if trace.mode == "lines"}
    drawn = {key: arcs(trace) for key, trace in lines.items()}
    assert drawn == {
        ("x", "in the tree and found"): {(0, 1), (1, 2)},
        ("x", "in the tree, not recovered"): {(2, 3)},
        ("x2", "in the tree and found"): {(0, 1), (1, 2)},
        ("x2", "recovered, not in the tree"): {(1, 3)},
    }
    assert len({trace.line.dash for trace in lines.values()}) == 3
    assert "cat – dogs" in lines["x2", "recovered, not in the tree"].text[0]
    roots = [(trace.xaxis, trace.y[0], trace.marker.symbol) for trace in figure.data if trace.mode == "markers"]
    assert sorted(roots) == [("x", 2, "diamond"), ("x2", 1, "diamond-open")]
    # A tree that is found has no wrong edge.
    figure = structural.trees(PARSED, 1)
    lines = {(trace.xaxis, trace.name): trace for trace in figure.data if trace.mode == "lines"}
    assert not lines[("x2", "recovered, not in the tree")].x
    assert not lines[("x", "in the tree, not recovered")].x
    assert {trace.marker.symbol for trace in figure.data if trace.mode == "markers"} == {"diamond"}
    assert structural.trees(replace(PARSED, root=None), 1).data  # a root inside a multiword token
    with pytest.raises(ValueError, match="layer 2 of 2"):
        structural.trees(PARSED, 2)
