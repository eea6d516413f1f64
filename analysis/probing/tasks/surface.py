"""Surface features of the same sentences: how long they are, and which animal they name."""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Task
from analysis.probing.grammar import (
    ANIMALS,
    Sentence,
    Side,
    labelled_sentences,
    tagged_sentence,
)

# Label of a bin -> the numbers of words in it.
LENGTHS = {"5–7 words": (5, 7), "8–10 words": (8, 10), "11–13 words": (11, 13), "14–16 words": (14, 16)}
TARGETS = tuple(noun.singular for noun in ANIMALS)


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    shortest, longest = LENGTHS[wanted["length"]]
    length = int(rng.integers(shortest, longest + 1))
    tagged = tagged_sentence(rng, side, length, wanted["animal"])
    return Sentence(tuple(word for word, _ in tagged), {})


FACTORS = {"length": tuple(LENGTHS), "animal": TARGETS}

TASKS = (
    Task(
        name="sentence_length",
        title="Sentence length",
        level="sentence",
        kind="surface",
        question="How many words does the sentence have, in four bins?",
        build=labelled_sentences("sentence_length", "length", FACTORS, _make),
        shared_words=frozenset(TARGETS),
    ),
    Task(
        name="word_content",
        title="Word content",
        level="sentence",
        kind="surface",
        question=f"Which of {len(TARGETS)} animals does the sentence name?",
        build=labelled_sentences("word_content", "animal", FACTORS, _make),
        shared_words=frozenset(TARGETS),
    ),
)
