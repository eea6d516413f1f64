"""Coordination inversion: are the two halves of the sentence in their natural order?

The second half refers back to what the first has introduced ("this lamp … it", "two nurses … them"). Turned
round, the sentence has the same words, and the same pairs of neighbours but for content words at the seam, and mentions
things before they are introduced.
"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Task
from analysis.probing.grammar import (
    ADJECTIVES,
    PEOPLE,
    PLACES,
    THINGS,
    WORDS,
    Sentence,
    Side,
    labelled_sentences,
    listed,
    pick,
    pick_different,
)

_WORDS = WORDS["coordination"]

LABELS = ("natural", "inverted")
OBTAINED = listed(_WORDS["obtained"])
DID_TO_IT = listed(_WORDS["did_to_it"])
MET = listed(_WORDS["met"])
DID_TO_THEM = listed(_WORDS["did_to_them"])


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    speaker, other, third = pick_different(rng, side.words(PEOPLE), 3)
    thing = pick(rng, side.words(THINGS))
    adjective = pick(rng, side.words(ADJECTIVES))
    somewhere, elsewhere = (["in", "the", place] for place in pick_different(rng, side.words(PLACES), 2))
    frame = int(rng.integers(3))
    if frame == 0:
        first = ["the", speaker.singular, pick(rng, side.words(OBTAINED)), "this", adjective, thing.singular]
        second = ["the", other.singular, pick(rng, side.words(DID_TO_IT)), "it"]
    elif frame == 1:
        first = ["the", speaker.singular, pick(rng, side.words(OBTAINED)), "two", adjective, thing.plural]
        second = ["the", other.singular, pick(rng, side.words(DID_TO_IT)), "them"]
    else:
        first = ["the", speaker.singular, pick(rng, side.words(MET)), "two", adjective, other.plural]
        second = ["the", third.singular, pick(rng, side.words(DID_TO_THEM)), "them"]
    # Both halves begin with "the" and end with a place: which is first cannot be told at the seam.
    halves = [first + somewhere, second + elsewhere]
    if wanted["order"] == "inverted":
        halves.reverse()
    return Sentence((*halves[0], ",", pick(rng, ("and", "but")), *halves[1]), {})


TASKS = (
    Task(
        name="coordination_inversion",
        title="Coordination inversion",
        level="sentence",
        kind="meaning",
        question="Are the halves in order, or is something referred to before it is introduced?",
        build=labelled_sentences("coordination_inversion", "order", {"order": LABELS}, _make),
    ),
)
