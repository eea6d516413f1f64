"""The softmax with and without its scaling, against values known by hand and against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.softmax_scaling import jacobian_norm, unscaled


def test_two_keys_by_hand() -> None:
    actual = unscaled(np.array([0.0, np.log(3)], dtype=np.float32), 0.5)
    assert actual.shares == pytest.approx([0.25, 0.75])
    assert actual.without == pytest.approx([0.1, 0.9])  # twice the scores: 1 to 9
    assert actual.gradient == pytest.approx(2 * 0.25 * 0.75)  # of two keys, every entry is ±p(1 − p)
    assert actual.gradient_without == pytest.approx(2 * 0.1 * 0.9)


def test_hidden_keys_stay_hidden() -> None:
    actual = unscaled(np.array([-np.inf, 1.0, 1.0], dtype=np.float32), 0.25)
    assert actual.without == pytest.approx([0, 0.5, 0.5])


def test_the_derivative_is_that_of_torch() -> None:
    scores = torch.tensor([0.3, -1.2, 2.0, 0.1], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), scores)
    assert jacobian_norm(torch.softmax(scores, 0).numpy()) == pytest.approx(float(jacobian.norm()))
