"""A number of every head with its interval, as the figures of the page Corpus draw and say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from propcache.api import cached_property

from model_zoo.types import DoubleArray
from viz.layout import token_text

Head = tuple[int, int]  # layer and head, from 0

SHARE: Final = "share of attention"
_SMALL: Final = 0.1  # where no number is larger, two digits would say next to nothing


@dataclass(frozen=True)
class HeadMeasure:
    """``values``, float64 (heads,), and the ends of their 95% intervals; nan where a head has none.

    ``name`` says what is measured as a reader would finish "attention …" ("on the token before") or by itself
    ("entropy"); ``unit`` what a number is: a share of something, bits, tokens.
    """

    name: str
    values: DoubleArray
    lows: DoubleArray
    highs: DoubleArray
    unit: str = SHARE

    @property
    def title(self) -> str:
        """The measure and its unit, as safe text."""
        return token_text(f"{self.name} ({self.unit})")

    @cached_property
    def limits(self) -> tuple[float, float]:
        """From 0, or the lowest number where that is below, to the highest; 0 to 1 where all are 0 or none is known."""
        known = np.concatenate([self.values, self.lows, self.highs])
        known = known[np.isfinite(known)]
        low, high = float(known.min(initial=0)), float(known.max(initial=0))
        return (low, high) if low < high else (0.0, 1.0)

    def format(self, value: float) -> str:
        """A number of this measure with the digits that tell its heads apart."""
        low, high = self.limits
        if value == 0:
            return "0"
        return f"{value:.{2 if max(-low, high) >= _SMALL else 4}f}".replace("-", "−")

    def position(self, value: float) -> float:
        """Where a number stands between the ends of the measure's range, 0 to 1."""
        low, high = self.limits
        return float((value - low) / (high - low))

    def number(self, head: int) -> str:
        """The number of the head at a place with its interval, as safe text."""
        if np.isnan(self.values[head]):
            return "not defined"
        value, low, high = (self.format(numbers[head]) for numbers in (self.values, self.lows, self.highs))
        return f"<b>{value}</b>{self.after} ({low} to {high})"

    @property
    def after(self) -> str:
        """What is written after a number, as safe text: its unit, unless it is a share."""
        return "" if self.unit.startswith("share") else f" {token_text(self.unit)}"
