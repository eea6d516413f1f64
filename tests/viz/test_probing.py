"""Figures of layer probing: the numbers in them are the results'."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from measured_results import TASK

from analysis.probing import Baseline, TaskResult
from viz import curves, probing


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


@pytest.mark.parametrize("dark", [False, True])
def test_picture_shows_accuracy_interval_and_both_baselines(dark: bool) -> None:
    figure = probing.layers_by_tasks([result([0.5, 0.75]), result([0.8], 0.6)], ["One", "<b>Two"], dark=dark)
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
    assert figure.layout.yaxis.ticktext == ("One", "&#60;b&#62;Two")


def test_empty_picture_is_a_figure() -> None:
    assert probing.layers_by_tasks([], []).data[0].z.shape == (0, 3)


def test_curve_has_interval_baselines_and_control() -> None:
    figure = curves.probe_curve(result([0.5, 0.75], 0.6, seeds=(0.55, 0.7)), "One")
    traces = {trace.name: trace for trace in figure.data}
    assert set(traces) == {"3 seeds", "accuracy", "majority", "bag of words", "random weights", "control task"}
    assert tuple(traces["3 seeds"].y) == (0.7, 0.75, 0.55, 0.5)  # along the highest, back along the lowest
    assert tuple(traces["random weights"].y) == (0.45, 0.45)
    assert len({trace.line.color for trace in figure.data[1:]}) == 5
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
