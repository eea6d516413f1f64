"""Words for numbers and texts: in the one line in which a result shows itself, and in messages."""

from __future__ import annotations

from typing import Final

from model_zoo.errors import InvalidInput

MB: Final = 10**6
"""Bytes of a megabyte, in every setting and message and on every screen."""

_SHOWN_CHARACTERS = 40  # of a text, in a result's line


def counted(count: int, noun: str) -> str:
    """ "1 layer", "1,200 layers"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def check_range(whose: str, noun: str, number: int, n: int) -> None:
    """Raises InvalidInput for a number that is not among the first ``n``, counted from 0."""
    if not 0 <= number < n:
        raise InvalidInput(f"{whose} has {counted(n, noun)}, 0 to {n - 1}, and no {noun} {number}. Choose another.")


def duration(seconds: float) -> str:
    """A time as a rough one: "1 second", "40 seconds", "3 minutes", "2 hours"."""
    for unit, length in (("hour", 3600), ("minute", 60)):
        if seconds >= 1.5 * length:
            return counted(round(seconds / length), unit)
    return counted(max(1, round(seconds)), "second")


def quoted(text: str) -> str:
    """A text between quotation marks, cut where it is long."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")


def megabytes(n_bytes: int) -> str:
    """A size in words: "438 MB", "0.4 MB"."""
    return f"{n_bytes / MB:,.0f} MB" if n_bytes >= 10 * MB else f"{n_bytes / MB:.1f} MB"


def signed(value: float, decimals: int = 2, *, plus: bool = False) -> str:
    """A number with a true minus: "−0.25"; with ``plus`` "+0.25", too."""
    return f"{value:{'+' if plus else ''}.{decimals}f}".replace("-", "−")


def format_interval(value: float, low: float, high: float, how: str = ".2f") -> str:
    """A number and its interval, each written as ``how`` says: "0.15 (0.13 to 0.17)"."""
    return f"{value:{how}} ({low:{how}} to {high:{how}})".replace("-", "−")
