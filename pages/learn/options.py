"""Answers to choose from, so that exactly one is right on any sentence, and what is said to those that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from pages.learn.case import Case
from pages.learn.lesson import Option

MOST = 4


def numbers(right: tuple[int, str], *wrong: tuple[int, str], unit: str = "") -> tuple[Option, ...]:
    """Numbers, each with the reply to it, the smallest first. A wrong one that is the right one on this sentence is
    left out, as is a repeated one.
    """
    replies = {right[0]: right[1]}
    for value, reply in wrong:
        replies.setdefault(value, reply)
    kept = [right[0], *[value for value in replies if value != right[0]][: MOST - 1]]
    return tuple(Option(f"{value:,}{unit}", replies[value], value == right[0]) for value in sorted(kept))


def tokens(case: Case, right: int, others: Iterable[int], reply: Callable[[int], str]) -> tuple[Option, ...]:
    """Tokens of the sentence by their places, in the order of the text; ``reply`` says what is said to who chooses the
    token at a place.
    """
    kept = [right, *[place for place in dict.fromkeys(others) if place != right][: MOST - 1]]
    return tuple(Option(case.label(place), reply(place), place == right) for place in sorted(kept))


def ranges(value: float, bounds: Sequence[tuple[float, str]], reply: Callable[[int, int], str]) -> tuple[Option, ...]:
    """Ranges of a number, each by its upper bound and its name; one holds ``value``. ``reply`` says what is said to who
    chooses the one at a place, the first argument, where the right one is at another, the second.
    """
    right = next(place for place, (bound, _) in enumerate(bounds) if value < bound)
    return tuple(Option(name, reply(place, right), place == right) for place, (_, name) in enumerate(bounds))


def either(text: str, right: bool, reply: str, otherwise: str) -> Option:
    """An answer that is right on some sentences, and what is said to who chooses it then and ``otherwise``."""
    return Option(text, reply if right else otherwise, right)


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
