"""Texts that run from right to left: where a row of them begins, and how they stand in a sentence that does not."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

import regex

Direction = Literal["ltr", "rtl"]
"""Of a row of words, as HTML says it."""

# Tokens such as [CLS], <mask> and </s> are of no language.
_SPECIAL: Final = regex.compile(r"\[[A-Z]+\]|<[^<>\s]+>")


def direction_of(texts: Iterable[str]) -> Direction:
    """The direction of the first letter in these texts that has one, special tokens left out."""
    signs = (sign for text in texts for sign in _SPECIAL.sub("", text))
    first = next((sign for sign in signs if runs_leftwards(sign) or unicodedata.bidirectional(sign) == "L"), "")
    return "rtl" if runs_leftwards(first) else "ltr"


def runs_leftwards(text: str) -> bool:
    """Whether a letter of the text runs from right to left (classes R and AL of Unicode Standard Annex 9)."""
    return any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text)


def isolated(text: str) -> str:
    """The text between marks of isolation (FSI, PDI) if any of its letters runs leftwards."""
    return f"\u2068{text}\u2069" if runs_leftwards(text) else text
