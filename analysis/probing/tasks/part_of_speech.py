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
    WORDS,
    Sentence,
    Side,
    labelled_words,
    listed,
    pick,
    pick_adjectives,
    pick_different,
)

_WORDS = WORDS["part_of_speech"]

# Each can be counted ("every walk") and can do without an object ("to walk").
NOUN_OR_VERB = listed(_WORDS["noun_or_verb"])
# What describes an event and says how, when or where something was done: the words, the events and the verbs they suit.
_USES = tuple(
    (listed(words), frozenset(listed(events)), frozenset(listed(verbs))) for words, events, verbs in _WORDS["uses"]
)
ADJECTIVE_OR_ADVERB = tuple(word for words, _, _ in _USES for word in words)
SUITS = {word: (events, verbs) for words, events, verbs in _USES for word in words}
EVENTS = listed(_WORDS["events"])
MOVED = listed(_WORDS["moved"])
SURPRISED = listed(_WORDS["surprised"])
# Before a noun ("liked this walk") and before "to" ("liked to walk").
LIKED = listed(_WORDS["liked"])


PLACES_OF_WORD = ((4, 1), (4, 4), (5, 1), (5, 4))  # words of the clause before and after the word asked about
TIMES = ("again", "anyway", "instead")

# The words of a clause before its adjectives, how many of these it has at least, and the words after them.
_Opening = tuple[list[str], int, list[str]]


def _clause(rng: np.random.Generator, side: Side, tag: str, word: str, n_after: int) -> tuple[_Opening, list[str]]:
    """What stands before and after a word of this kind: four words before it, without one more adjective."""
    person, place = pick(rng, side.words(PEOPLE)), pick(rng, side.words(PLACES))
    surprised = [pick(rng, side.words(SURPRISED)), "the"]
    liked = pick(rng, side.words(LIKED))
    determiner = pick(rng, ("the", "this", "every"))
    near = ["near", "the"]
    events, verbs = (
        [known for known in side.words(words) if known in suits]
        for words, suits in zip((EVENTS, MOVED), SUITS.get(word, ((), ())), strict=True)
    )
    if tag in ("NOUN", "ADJ") and n_after == 4 and rng.random() < 0.5:  # the subject
        before = (["in", "the"], 0, [place, determiner])
        after = [*surprised, pick(rng, side.words(ADJECTIVES)), person.singular]
        return before, after if tag == "NOUN" else [pick(rng, events), *surprised, person.singular]
    if tag in ("NOUN", "ADJ"):
        before = (["the"], 0, [person.singular, liked, determiner])
    elif tag == "VERB":
        before = (
            (["the"], 0, [person.singular, liked, "to"]),
            (["the"], 0, [person.plural, "will", "never"]),
            (["the"], 2, [person.plural]),
        )[int(rng.integers(3))]
    else:
        moved = pick(rng, verbs)
        before = (
            (["the"], 0, [person.singular, "never", moved]),
            (["the"], 1, [person.plural, moved]),
        )[int(rng.integers(2))]
    if tag == "ADJ":
        event = pick(rng, events)
        return before, [event] if n_after == 1 else [event, *near, place]
    return before, [pick(rng, TIMES)] if n_after == 1 else [*near, pick(rng, side.words(ADJECTIVES)), place]


def _half(rng: np.random.Generator, side: Side, tag: str, word: str) -> tuple[str, list[str], int]:
    """The kind of a word, a clause with it, and its place in the clause."""
    n_before, n_after = pick(rng, PLACES_OF_WORD)
    (start, at_least, rest), after = _clause(rng, side, tag, word, n_after)
    adjectives = pick_adjectives(rng, side.words(ADJECTIVES), at_least + (n_before == 5))
    return tag, [*start, *adjectives, *rest, word, *after], n_before


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    halves = [
        _half(rng, side, wanted["first"], pick(rng, side.words(NOUN_OR_VERB))),
        _half(rng, side, wanted["second"], pick(rng, side.words(ADJECTIVE_OR_ADVERB))),
    ]
    words: list[str] = []
    marked: dict[int, str] = {}
    for i, (tag, clause, place) in enumerate(pick_different(rng, halves, 2)):
        if i:
            words += [",", pick(rng, ("and", "but"))]
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
