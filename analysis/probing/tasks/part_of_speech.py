"""Part of speech of words that can be two: nouns that are verbs as well, adjectives that are adverbs as well.

Each word is in both uses equally often, so the word alone says one of two and the context must say which. Words of all
four kinds occur in the same places: four or five words of their clause come before them, one or four after them. What
stands next to a word says much about its kind, in these sentences as in the language.
"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Task
from analysis.probing.grammar import (
    ADJECTIVES,
    PEOPLE,
    PLACES,
    Sentence,
    Side,
    labelled_words,
    listed,
    pick,
    pick_different,
)

NOUN_OR_VERB = listed(
    "walk dream talk dance fight swim jump cry laugh smile sail climb hike rest shout march race vote hunt "
    "wait pause drink guess search visit return struggle work play sleep ride hope answer reply call attack "
    "study escape change trade drive"
)
ADJECTIVE_OR_ADVERB = listed(
    "fast hard early late daily weekly monthly yearly nightly long straight high low deep wide far loud slow "
    "quick close right wrong overnight upstairs downstairs downtown underground overseas online outside "
    "inside"
)
EVENTS = listed("meeting journey trip lesson game concert service train road job route party class show")
MOVED = listed("moved traveled worked played lived acted stayed danced walked")
SURPRISED = listed("surprised pleased amused annoyed scared helped")
LIKED = listed("liked remembered described hated enjoyed feared expected missed")


PLACES_OF_WORD = ((4, 1), (4, 4), (5, 1), (5, 4))  # words of the clause before and after the word asked about
TIMES = ("today", "later", "afterwards")


def _clause(rng: np.random.Generator, side: Side, tag: str, n_after: int) -> tuple[list[str | None], list[str]]:
    """What stands before and after a word of this kind: four words before it, and None where an adjective may stand."""
    person, place = pick(rng, side.words(PEOPLE)), pick(rng, side.words(PLACES))
    surprised = [pick(rng, side.words(SURPRISED)), "the"]
    liked, moved = pick(rng, side.words(LIKED)), pick(rng, side.words(MOVED))
    determiner = pick(rng, ("the", "this", "every"))
    near = ["near", "the"]
    if tag in ("NOUN", "ADJ") and n_after == 4 and rng.random() < 0.5:  # the subject
        before: list[str | None] = ["in", "the", None, place, determiner]
        after = [*surprised, pick(rng, side.words(ADJECTIVES)), person.singular]
        return before, after if tag == "NOUN" else [pick(rng, side.words(EVENTS)), *surprised, person.singular]
    if tag in ("NOUN", "ADJ"):
        before = ["the", None, person.singular, liked, determiner]
    elif tag == "VERB":
        before = (
            ["the", None, person.singular, liked, "to"],
            ["the", None, person.plural, "will", "never"],
            ["in", "the", None, place, person.plural],
        )[int(rng.integers(3))]
    else:
        described = pick(rng, side.words(ADJECTIVES))
        before = (
            ["the", None, person.singular, "never", moved],
            ["the", described, None, person.plural, moved],
        )[int(rng.integers(2))]
    if tag == "ADJ":
        event = pick(rng, side.words(EVENTS))
        return before, [event] if n_after == 1 else [event, *near, place]
    return before, [pick(rng, TIMES)] if n_after == 1 else [*near, pick(rng, side.words(ADJECTIVES)), place]


def _half(rng: np.random.Generator, side: Side, tag: str, word: str) -> tuple[str, list[str], int]:
    """The kind of a word, a clause with it, and its place in the clause."""
    n_before, n_after = pick(rng, PLACES_OF_WORD)
    before, after = _clause(rng, side, tag, n_after)
    adjective = [pick(rng, side.words(ADJECTIVES))] if n_before == 5 else []
    gap = before.index(None)
    words = [*before[:gap], *adjective, *before[gap + 1 :], word, *after]
    return tag, [found for found in words if found is not None], n_before


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    halves = [
        _half(rng, side, wanted["first"], pick(rng, side.words(NOUN_OR_VERB))),
        _half(rng, side, wanted["second"], pick(rng, side.words(ADJECTIVE_OR_ADVERB))),
    ]
    words: list[str] = []
    marked: dict[int, str] = {}
    for i, (tag, clause, place) in enumerate(pick_different(rng, halves, 2)):
        if i:
            words += [pick(rng, ("and", "but", "while"))]
        marked[len(words) + place] = tag
        words += clause
    return Sentence(tuple(words), marked)


FACTORS = {"first": ("NOUN", "VERB"), "second": ("ADJ", "ADV")}

TASKS = (
    Task(
        name="part_of_speech",
        title="Part of speech",
        level="token",
        kind="syntax",
        question="Noun, verb, adjective or adverb? Each word asked about can be one of two.",
        build=labelled_words("part_of_speech", FACTORS, _make),
    ),
)
