"""Number and animacy of the subject, with a distractor of the other number and animacy before the verb.

Verbs are in the past, which shows no number. Every noun form is as often the subject as the distractor. A second verb
has the distractor as its subject: "the poets that the lamp stood near vanished" (after "the poets near the lamp that
fell", either of them may have fallen).
"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Task
from analysis.probing.grammar import (
    ADJECTIVES,
    ADVERBS,
    NEUTRAL_PAST,
    PEOPLE,
    PLACES,
    PREPOSITIONS,
    THINGS,
    Sentence,
    Side,
    labelled_sentences,
    labelled_words,
    pick,
    pick_different,
)

NUMBERS = ("singular", "plural")
ANIMACIES = ("animate", "inanimate")


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    people, things = pick(rng, side.words(PEOPLE)), pick(rng, side.words(THINGS))
    number = wanted["number"]
    other_number = NUMBERS[1 - NUMBERS.index(number)]
    subject, other = (people, things) if wanted["animacy"] == "animate" else (things, people)
    adjectives = iter(pick_different(rng, side.words(ADJECTIVES), 2))
    verb, other_verb = pick_different(rng, side.words(NEUTRAL_PAST), 2)

    words: list[str] = []
    marked: dict[int, str] = {}
    place = ["in", "the", pick(rng, side.words(PLACES))]
    where = rng.random()
    if where < 0.25:
        words += place
    words += ["the", *([next(adjectives)] if rng.random() < 0.5 else []), subject.form(number)]
    noun_phrase = ["the", *([next(adjectives)] if rng.random() < 0.5 else []), other.form(other_number)]
    if rng.random() < 0.5:
        words += ["that", *noun_phrase, other_verb, pick(rng, PREPOSITIONS)]
        marked[len(words) - 2] = other_number
    else:
        words += [pick(rng, PREPOSITIONS), *noun_phrase]
    marked[len(words)] = number
    words += [verb]
    if rng.random() < 0.4:
        words += [pick(rng, side.words(ADVERBS))]
    if where > 0.5:
        words += place
    return Sentence(tuple(words), marked)


FACTORS = {"number": NUMBERS, "animacy": ANIMACIES}

TASKS = (
    Task(
        name="subject_number",
        title="Number of the subject",
        level="sentence",
        kind="syntax",
        question="Is the subject singular or plural? A noun of the other number comes before its verb.",
        build=labelled_sentences("subject_number", "number", FACTORS, _make),
    ),
    Task(
        name="subject_animacy",
        title="Animacy of the subject",
        level="sentence",
        kind="meaning",
        question="Is the subject a person or a thing? Each sentence names one of each.",
        build=labelled_sentences("subject_animacy", "animacy", FACTORS, _make),
    ),
    Task(
        name="verb_number",
        title="Number at the verb",
        level="token",
        kind="syntax",
        question="Does the vector of a past-tense verb show whether its subject is singular or plural?",
        build=labelled_words("verb_number", FACTORS, _make),
    ),
)
