"""Tense and negation of the main clause, beside a second clause that always has the other tense and polarity.

Each sentence has one verb in the past, one in the present and one negation; only the structure says which is
where, so no word and no ending gives a label away. There are content words before and after every verb group, so that
no pair of function words tells which clause it belongs to. "That", "although" and "because" can join two tenses; "when"
cannot.
"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Task
from analysis.probing.grammar import (
    PEOPLE,
    THINGS,
    TRANSITIVE,
    Sentence,
    Side,
    Verb,
    labelled_sentences,
    pick,
    pick_different,
)

TENSES = ("past", "present")
POLARITIES = ("affirmative", "negated")


def _predicate(verb: Verb, tense: str, number: str, negation: str | None) -> list[str]:
    """The verb group: negated by "not" with its auxiliary, by "never", or plain."""
    if negation == "not":
        auxiliary = "did" if tense == "past" else ("do" if number == "plural" else "does")
        return [auxiliary, "not", verb.base]
    return ([negation] if negation else []) + [verb.finite(tense, number)]


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    negation = pick(rng, ("not", "never"))
    main_tense = wanted["tense"]
    second_tense = TENSES[1 - TENSES.index(main_tense)]
    main_negation, second_negation = (negation, None) if wanted["polarity"] == "negated" else (None, negation)
    people = pick_different(rng, side.words(PEOPLE), 2)
    objects = [noun.singular for noun in pick_different(rng, side.words(THINGS), 2)]
    verbs = pick_different(rng, side.words(TRANSITIVE), 2)
    numbers = [pick(rng, ("singular", "plural")) for _ in range(2)]
    first, second = (["the", noun.form(number)] for noun, number in zip(people, numbers, strict=True))

    def main(number: str) -> list[str]:
        return [*_predicate(verbs[0], main_tense, number, main_negation), "the", objects[0]]

    def subordinate(number: str) -> list[str]:
        return _predicate(verbs[1], second_tense, number, second_negation)

    frame = int(rng.integers(4))
    if frame == 0:  # a relative clause at the subject: the main verb comes last
        words = [*first, "that", *second, *subordinate(numbers[1]), *main(numbers[0])]
    elif frame == 1:  # a relative clause at the object: the main verb comes first
        words = [*first, *main(numbers[0]), "that", *second, *subordinate(numbers[1])]
    elif frame == 2:
        opening = pick(rng, ("although", "because"))
        words = [opening, *first, *subordinate(numbers[0]), "the", objects[1], ",", *second, *main(numbers[1])]
    else:
        joint = pick(rng, ("although", "because"))
        words = [*first, *main(numbers[0]), joint, *second, *subordinate(numbers[1]), "the", objects[1]]
    return Sentence(tuple(words), {})


FACTORS = {"tense": TENSES, "polarity": POLARITIES}

TASKS = (
    Task(
        name="tense",
        title="Tense",
        level="sentence",
        kind="syntax",
        question="Is the main clause in the past or the present? The other clause is in the other tense.",
        build=labelled_sentences("tense", "tense", FACTORS, _make),
    ),
    Task(
        name="negation",
        title="Negation",
        level="sentence",
        kind="meaning",
        question="Is the main clause negated, or the other one?",
        build=labelled_sentences("negation", "polarity", FACTORS, _make),
    ),
)
