"""Curves of training: one line a model, a band over seeds, intervals at the points of the learning curve."""

from dataclasses import replace

import numpy as np
import pytest

from viz import training_curves
from viz.training_curves import Curve, Point


def curve(name: str, score: float, n_epochs: int = 2) -> Curve:
    steps = [(step / 5, step * 2.0, 1.0 / step) for step in range(1, 5 * n_epochs + 1)]
    evaluated = [(float(epoch), epoch * 10.0, 0.7 - 0.1 * epoch, score + 0.1 * epoch) for epoch in range(n_epochs + 1)]
    return Curve(name, steps, evaluated)


def test_losses_of_training_and_development() -> None:
    single = curve("A", 0.5)
    training, development = training_curves.losses([single]).data
    assert list(training.x) == [step[0] for step in single.steps]
    assert list(development.x) == [0, 1, 2]
    np.testing.assert_allclose(development.y, [0.7, 0.6, 0.5])
    of_two = training_curves.losses([single, curve("B", 0.4)])
    assert [trace.name for trace in of_two.data if trace.showlegend is not False] == ["A", "B"]
    in_seconds = training_curves.losses([single], "seconds")
    assert list(in_seconds.data[0].x) == [step[1] for step in single.steps]
    assert list(in_seconds.data[1].x) == [0, 10, 20]
    # Of one model alone the scores need none.
    both = training_curves.losses([curve("A", 0.5), curve("B", 0.2)])
    assert [trace.name for trace in both.data if trace.showlegend is not False] == ["A", "B"]
    assert len(training_curves.losses([Curve("A", [(0.2, 2.0, 0.9)], [])]).data) == 1
    assert len(training_curves.scores([Curve("A", [], [])], "Accuracy").data) == 0


def test_seeds_of_one_model_make_a_band_around_their_mean() -> None:
    figure = training_curves.scores([curve("A", 0.5), curve("A", 0.7), curve("B", 0.2)], "Accuracy")
    band, mean, other = figure.data
    np.testing.assert_allclose(band.y, [0.7, 0.8, 0.9, 0.7, 0.6, 0.5])
    assert list(band.x) == [0, 1, 2, 2, 1, 0]
    assert band.fill == "toself"
    np.testing.assert_allclose(mean.y, [0.6, 0.7, 0.8])
    assert (mean.name, other.name) == ("A (2 seeds)", "B")
    assert mean.marker.symbol != other.marker.symbol  # not by colour alone
    # A band ends with the seed that is least far.
    band, mean = training_curves.scores([curve("A", 0.5, 3), curve("A", 0.7, 1)], "Accuracy").data
    assert list(mean.x) == [0, 1]
    assert len(band.x) == 4
    # Seeds of one model have a mean, which is no network that could be kept.
    single = replace(curve("A", 0.5), best=1)
    for figure in (training_curves.losses([single]), training_curves.scores([single], "Accuracy")):
        small, large, same = figure.data[-1].marker.size
        assert large > small == same
    mean = training_curves.scores([single, replace(single, best=2)], "Accuracy").data[1]
    assert isinstance(mean.marker.size, int)


def test_the_learning_curve_has_its_points_in_order_with_their_intervals() -> None:
    points = [Point("A", 100, 0.8, 0.7, 0.85), Point("A", 10, 0.5, 0.3, 0.6), Point("B", 10, 0.4, 0.4, 0.4)]
    figure = training_curves.by_examples(points, "Accuracy", baseline=0.5)
    first, second, alike = figure.data
    assert list(alike.x) == [0, 100]
    assert list(first.x) == [10, 100]
    np.testing.assert_allclose(first.error_y.array, [0.1, 0.05])
    np.testing.assert_allclose(first.error_y.arrayminus, [0.2, 0.1])
    assert second.error_y.color == second.line.color != first.line.color
    # Always alike is a line.
    figure = training_curves.scores([curve("A", 0.5)], "Accuracy", baseline=0.4)
    evaluated, line = figure.data
    assert list(line.y) == [0.4, 0.4]
    assert list(line.x) == [0, max(evaluated.x)]


def test_smoothing_begins_at_the_first_value_and_keeps_a_constant() -> None:
    assert list(training_curves.smoothed([])) == []
    np.testing.assert_allclose(training_curves.smoothed([2.0] * 50), 2.0)
    rough = np.random.default_rng(0).normal(size=400)
    averages = training_curves.smoothed(list(rough))
    assert averages[0] == pytest.approx(rough[0])
    expected = rough[0]
    for value in rough[1:]:
        expected = 0.95 * expected + 0.05 * value  # 5% of 400 steps are 20
    assert averages[-1] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("draw", [training_curves.losses, lambda curves: training_curves.scores(curves, "Accuracy"),
                                  lambda points: training_curves.by_examples(points, "Accuracy")])  # fmt: skip
def test_nothing_to_draw_is_said(draw: object) -> None:
    with pytest.raises(ValueError, match="there is nothing to draw"):
        draw([])  # type: ignore[operator]
