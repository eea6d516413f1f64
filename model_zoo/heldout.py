"""Sentence pairs written for this project, to measure models on where there is no corpus.

Short modern English on everyday subjects; the second sentence naturally follows the first. No model was
trained on them. ``heldout.tsv`` holds subject, first and second sentence a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("heldout.tsv")


@dataclass(frozen=True, slots=True)
class WrittenPair:
    """Two sentences of which the second follows the first, and what they are about."""

    subject: str
    first: str
    second: str


@cache
def written_pairs() -> tuple[WrittenPair, ...]:
    """All pairs, in the order of the file; pairs of one subject stand together."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(WrittenPair(*line.split("\t")) for line in lines)


def spread_pairs(n: int) -> tuple[WrittenPair, ...]:
    """So many pairs, evenly spaced, so that all subjects have equal shares."""
    pairs = written_pairs()
    return pairs[:: max(1, len(pairs) // n)][:n]
