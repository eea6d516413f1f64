"""How long a long text takes, as one says it."""

from __future__ import annotations

import pytest

from ui.long_text import duration


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, "1 s"), (39.6, "40 s"), (90.0, "90 s"), (119.0, "2 min"), (600.0, "10 min")]
)
def test_a_time_is_said_in_whole_numbers(seconds: float, said: str) -> None:
    assert duration(seconds) == said
