"""The literature that lessons and the glossary cite by a key: the lines of ``sources.tsv``, ordered by key."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Source:
    """Where a claim comes from: who, when, and the title."""

    authors: str
    year: int
    title: str

    def __str__(self) -> str:
        return f"{self.authors} {self.year}, “{self.title}”"


def _read() -> dict[str, Source]:
    with (Path(__file__).parent / "sources.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["key"]: Source(row["authors"], int(row["year"]), row["title"]) for row in rows}


SOURCES: Final[dict[str, Source]] = _read()
"""Every source by its key."""
