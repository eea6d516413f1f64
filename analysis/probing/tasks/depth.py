"""Clause depth: how deep the deepest complement clause is nested.

Every sentence has the same building blocks: four clauses, three times "that", one "and", one comma, an
opening adverb and two adjectives. Only their arrangement, nested or side by side, makes the depth.
"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Dataset, Task
from analysis.probing.grammar import (
    ADJECTIVES,
    PEOPLE,
    Sentence,
    Side,
    corpus,
    listed,
    pick,
    pick_different,
    sentence_dataset,
)

DEPTHS = ("1", "2", "3")
OPENINGS = ("yesterday", "today", "later", "once", "afterwards")
# Verbs that can stand alone as well as before "that": all four clauses use the same ones.
SAYING = listed(
    "complained agreed insisted forgot knew worried boasted objected guessed promised remembered swore "
    "understood argued protested joked replied answered confessed dreamed prayed noticed shouted whispered "
    "screamed wrote heard"
)


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    depth = wanted["depth"]
    people = [noun.singular for noun in pick_different(rng, side.words(PEOPLE), 4)]
    verbs = pick_different(rng, side.words(SAYING), 4)
    one, two = pick_different(rng, side.words(ADJECTIVES), 2)
    if depth == "3":  # the one "and" joins the adjectives, in the other depths it joins clauses
        adjectives = {int(rng.integers(4)): [one, "and", two]}
    else:
        first, second = pick_different(rng, range(4), 2)
        adjectives = {first: [one], second: [two]}
    clauses = [["the", *adjectives.get(i, []), people[i], verbs[i]] for i in range(4)]
    opening = [pick(rng, OPENINGS)]
    if depth == "1":
        joints = [["that"], [",", "that"], ["and", "that"]]
    else:
        opening.append(",")
        joints = [["that"], ["that"], ["and", "that"] if depth == "2" else ["that"]]
    words = opening + clauses[0]
    for joint, clause in zip(joints, clauses[1:], strict=True):
        words += joint + clause
    return Sentence(tuple(words), {})


def _build(sentences: int, seed: int) -> Dataset:
    texts, in_test, values, _ = corpus(sentences, seed, {"depth": DEPTHS}, _make)
    return sentence_dataset("clause_depth", texts, in_test, values["depth"])


FAMILY = (
    Task(
        name="clause_depth",
        title="Clause depth",
        level="sentence",
        kind="syntax",
        question="How deep are the clauses nested: one, two or three? All sentences have four clauses.",
        build=_build,
    ),
)
