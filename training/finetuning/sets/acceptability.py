"""The set of acceptability as the minimal pairs that it is made of."""

from __future__ import annotations

from typing import Final

from reading.items import MinimalPair
from training.finetuning.data import Split
from training.finetuning.sets import read_lines

KINDS: Final = (
    "agreement of subject and verb",
    "order of words",
    "number of determiner and noun",
    "articles",
    "infinitives with and without “to”",
    "reflexives",
    "objects",
    "forms of the verb",
    "case of pronouns",
    "comparison",
)
"""The ten kinds of pairs."""


def pairs(split: Split) -> tuple[MinimalPair, ...]:
    """The pairs of a split, with their kind as phenomenon and their template as paradigm."""
    lines = [line for line in read_lines("acceptability") if line["split"] == split]
    return tuple(
        MinimalPair(good["text"], bad["text"], bad["kind"], bad["cluster"])
        for bad, good in zip(lines[::2], lines[1::2], strict=True)
    )
