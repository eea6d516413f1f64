"""Clause depth: how deep the deepest complement clause is nested.

Every sentence has the same building blocks in three branches: six clauses, three times "that", one "when", two commas,
one "but" and two adjectives. "That" always follows a verb and comes before "the", so that single words and
pairs of function words are the same in all of them: only their arrangement, nested in one branch or spread over all,
makes the depth.
"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Task
from analysis.probing.grammar import (
    ADJECTIVES,
    PEOPLE,
    WORDS,
    Sentence,
    Side,
    labelled_sentences,
    listed,
    pick,
    pick_different,
)

_WORDS = WORDS["depth"]

# How many complement clauses hang in each of the three branches, one in the other.
BRANCHES = {
    "1": ((1, 1, 1),),
    "2": ((2, 1, 0), (2, 0, 1), (1, 2, 0), (0, 2, 1), (1, 0, 2), (0, 1, 2)),
    "3": ((3, 0, 0), (0, 3, 0), (0, 0, 3)),
}
# Verbs that can stand alone as well as before "that": all clauses use the same ones.
SAYING = listed(_WORDS["saying"])


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    branches = pick(rng, BRANCHES[wanted["depth"]])
    n_clauses = len(branches) + sum(branches)
    people = iter(noun.singular for noun in pick_different(rng, side.words(PEOPLE), n_clauses))
    verbs = iter(pick_different(rng, side.words(SAYING), n_clauses))
    adjectives = iter(pick_different(rng, side.words(ADJECTIVES), 2))
    described = set(pick_different(rng, range(n_clauses), 2))

    words: list[str] = []
    clause = 0
    for opening, depth in zip((["when"], [","], [",", "but"]), branches, strict=True):
        words += opening
        for level in range(depth + 1):
            words += ["that"] if level else []
            words += ["the", *([next(adjectives)] if clause in described else []), next(people), next(verbs)]
            clause += 1
    return Sentence(tuple(words), {})


TASKS = (
    Task(
        name="clause_depth",
        title="Clause depth",
        level="sentence",
        kind="syntax",
        question="How deep are clauses with “that” nested: one, two or three? All sentences have six clauses.",
        build=labelled_sentences("clause_depth", "depth", {"depth": tuple(BRANCHES)}, _make),
    ),
)
