"""Numbers as one says them."""

from __future__ import annotations

import pytest

from model_zoo.types import duration, format_interval


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (0.0, "1 second"),
        (39.6, "40 seconds"),
        (89.0, "89 seconds"),
        (119.0, "2 minutes"),
        (600.0, "10 minutes"),
        (5_399.0, "90 minutes"),
        (40_000.0, "11 hours"),
    ],
)
def test_a_time_is_said_in_whole_numbers(seconds: float, message: str) -> None:
    assert duration(seconds) == message


@pytest.mark.parametrize(
    ("numbers", "how", "message"),
    [((0.824, 0.71, 0.896), ".0%", "82% (71% to 90%)"), ((0.054, -0.126, 0.2), ".2f", "0.05 (−0.13 to 0.20)")],
)
def test_a_number_is_said_with_its_interval(numbers: tuple[float, float, float], how: str, message: str) -> None:
    assert format_interval(*numbers, how) == message
