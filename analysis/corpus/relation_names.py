"""Universal relations and their two directions in plain words (de Marneffe et al. 2021)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from analysis.corpus.relations import ALL, Relation

_LINES: Final = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]
_ENDS: Final = {deprel: (dependent, head) for deprel, dependent, head in (line.split("\t") for line in _LINES)}
"""What the dependent is, and its head. A clause stands for its verb, which the tree names as its head."""


def ends(relation: Relation) -> tuple[str, str]:
    """What the word that looks is, and the one it should look at."""
    if relation == ALL:
        return "word", "head"
    dependent, head = _ENDS.get(relation.deprel, ("dependent", "head"))
    return (dependent, head) if relation.direction == "up" else (head, dependent)


def short(relation: Relation) -> str:
    """For a row of a table: "obj: verb → object"."""
    deprel = "all" if relation == ALL else relation.deprel
    return f"{deprel}: {' → '.join(ends(relation))}"


def looks(relation: Relation) -> str:
    """What a head does that finds it: "looks from a verb at its object"."""
    start, end = ends(relation)
    return f"looks from {'an' if start[0] in 'aeiou' else 'a'} {start} at its {end}"
