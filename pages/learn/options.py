"""Answers to choose from: numbers, and tokens of the sentence, so that exactly one is right on any sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pages.learn.case import Case
from pages.learn.lesson import Option

MOST = 4


def numbers(right: tuple[int, str], *wrong: tuple[int, str], unit: str = "") -> tuple[Option, ...]:
    """Numbers with what is said to who chooses them, the smallest first. A wrong one that is the right one on this
    sentence is left out, as is one that stands there already.
    """
    said = {right[0]: right[1]}
    for value, reply in wrong:
        said.setdefault(value, reply)
    kept = [right[0], *[value for value in said if value != right[0]][: MOST - 1]]
    return tuple(Option(f"{value:,}{unit}", said[value], value == right[0]) for value in sorted(kept))


def tokens(case: Case, right: int, others: Iterable[int], reply: Callable[[int], str]) -> tuple[Option, ...]:
    """Tokens of the sentence by their places, in the order of the text; ``reply`` says what is said to who chooses the
    token at a place.
    """
    kept = [right, *[place for place in dict.fromkeys(others) if place != right][: MOST - 1]]
    return tuple(Option(case.label(place), reply(place), place == right) for place in sorted(kept))


def steps(value: float, bounds: Iterable[tuple[float, str]], reply: str, said: str) -> tuple[Option, ...]:
    """Ranges of a number, each by its upper bound and its name; one holds ``value``. ``reply`` is what is said to who
    chooses that one, ``said`` to the others.
    """
    found, options = False, []
    for bound, name in bounds:
        right = not found and value < bound
        found = found or right
        options.append(Option(name, reply if right else said, right))
    return tuple(options)


def placed(at: int, *options: Option) -> tuple[Option, ...]:
    """Answers that have no order of their own, the right one at a place (from 0), so that its place tells nothing."""
    right = [option for option in options if option.right]
    wrong = [option for option in options if not option.right]
    return (*wrong[:at], *right, *wrong[at:])
