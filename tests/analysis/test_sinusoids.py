"""Positions by formula, against values known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.sinusoids import frequencies, sinusoids, turned


def test_the_formula_by_hand() -> None:
    actual = sinusoids(3, 4)
    assert actual[0] == pytest.approx([0, 1, 0, 1])
    assert actual[1] == pytest.approx([np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)])
    assert actual[1, 0] == pytest.approx(0.8415, abs=1e-4)
    assert sinusoids(2, 3).shape == (2, 3)


def test_likeness_depends_on_the_distance_alone() -> None:
    actual = sinusoids(40, 64)
    products = actual @ actual.T
    for distance in (1, 5, 12):
        diagonal = np.diagonal(products, distance)
        assert diagonal == pytest.approx(np.full_like(diagonal, diagonal[0]))
        assert diagonal[0] == pytest.approx(np.cos(distance * frequencies(64)).sum())


def test_turning_keeps_lengths_and_looks_at_differences() -> None:
    rng = np.random.default_rng(0)
    q, k, theta = rng.normal(size=8), rng.normal(size=8), frequencies(8)
    assert np.linalg.norm(turned(q, 7, theta)) == pytest.approx(np.linalg.norm(q))
    assert turned(q, 3, theta) @ turned(k, 9, theta) == pytest.approx(turned(q, 13, theta) @ turned(k, 19, theta))
    assert turned(np.array([1.0, 0.0]), np.pi / 2, np.array([1.0])) == pytest.approx([0, 1])
