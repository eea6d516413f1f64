"""Softmax and cross-entropy of the course's example, and of values known by hand."""

from __future__ import annotations

import pytest
import torch

from analysis.cross_entropy import guess, softened

LOGITS = [1.0, 0.5, 4.0, 2.0, 0.0, 1.5]


def test_the_courses_example_with_its_true_figures() -> None:
    """Course notes say 0.797 and 0.227; e^4 is 54.598 of 71.836 in all."""
    actual = guess(LOGITS, 2)
    assert actual.probabilities[2] == pytest.approx(0.760, abs=5e-4)
    assert actual.loss == pytest.approx(0.274, abs=5e-4)
    assert guess([1.0, 0.5, 1.0, 2.0, 0.0, 1.5], 2).loss == pytest.approx(1.994, abs=1e-3)


def test_two_answers_by_hand() -> None:
    actual = guess([0.0, 0.0], 0)
    assert actual.probabilities == pytest.approx((0.5, 0.5))
    assert actual.loss == pytest.approx(0.6931, abs=1e-4)
    assert actual.gradient == pytest.approx((-0.5, 0.5))


def test_loss_and_gradient_are_those_of_torch() -> None:
    logits = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(logits[None], torch.tensor([2]))
    loss.backward()
    actual = guess(LOGITS, 2)
    assert actual.loss == pytest.approx(float(loss.detach()))
    assert logits.grad is not None
    assert actual.gradient == pytest.approx(logits.grad.tolist())


def test_a_temperature_softens() -> None:
    assert softened([0.0, 1.3862944], 1) == pytest.approx((0.2, 0.8))  # ln 4
    assert softened([0.0, 1.3862944], 2) == pytest.approx((1 / 3, 2 / 3))
    logits = torch.tensor(LOGITS, dtype=torch.float64)
    for temperature in (0.5, 1, 4):
        expected = (logits / temperature).softmax(0).tolist()
        assert softened(LOGITS, temperature) == pytest.approx(expected)
        assert softened(logits.log_softmax(0).tolist(), temperature) == pytest.approx(expected)
    with pytest.raises(ValueError, match="above 0"):
        softened(LOGITS, 0)
