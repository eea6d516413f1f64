"""WordPiece by hand: the longest beginning that is in the vocabulary, again and again (Wu et al. 2016)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

CONTINUED = "##"
"""What a piece begins with that does not begin a word."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One step: of what was ``left`` of the word, ``piece`` was the longest beginning known; ``tried`` so many."""

    left: str
    piece: str
    tried: int


def cuts(word: str, vocabulary: Collection[str]) -> tuple[Cut, ...] | None:
    """How a word, as the tokenizer normalized it, is cut; None where some part is not in the vocabulary at all.

    Greedy, from the left: the tokenizer does not look for the fewest pieces.
    """
    steps: list[Cut] = []
    start = 0
    while start < len(word):
        for tried, end in enumerate(range(len(word), start, -1), start=1):
            piece = (CONTINUED if start else "") + word[start:end]
            if piece in vocabulary:
                steps.append(Cut(word[start:], piece, tried))
                start = end
                break
        else:
            return None
    return tuple(steps)
