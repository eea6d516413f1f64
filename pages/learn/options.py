"""Answers to choose from, so that exactly one is right on any sentence, and what is said to those that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from pages.learn.case import Case
from pages.learn.lesson import Option

MOST = 4


def tokens(case: Case, right: int, others: Iterable[int], reply: Callable[[int], str]) -> tuple[Option, ...]:
    """Tokens of the sentence by their places, in the order of the text; ``reply`` says what is said to who chooses the
    token at a place.
    """
    kept = [right, *[place for place in dict.fromkeys(others) if place != right][: MOST - 1]]
    return tuple(Option(case.label(place), reply(place), place == right) for place in sorted(kept))


def placed(at: int, *options: Option) -> tuple[Option, ...]:
    """Answers that have no order of their own, the right one at a place (from 0), so that its place tells nothing."""
    right = [option for option in options if option.right]
    wrong = [option for option in options if not option.right]
    return (*wrong[:at], *right, *wrong[at:])


def highest(labels: Sequence[str], heights: Sequence[float]) -> str:
    """The label with the greatest height."""
    return labels[int(np.argmax(heights))]


def mean_gap(drawn: Sequence[float], truth: Sequence[float]) -> float:
    """How far what was drawn is off, on average."""
    return float(np.abs(np.subtract(drawn, truth)).mean())


def spread(n: int, most: int) -> list[int]:
    """At most so many of the places 0 to n - 1, evenly spread, the first and the last among them."""
    return sorted(set(np.linspace(0, n - 1, min(n, most)).round().astype(int).tolist()))
