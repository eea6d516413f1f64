"""Part of speech of words that can be two: nouns that are verbs as well, adjectives that are adverbs as well.

Each word is in both uses equally often, so the word alone says one of two and the context must say which.
"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Dataset, Task
from analysis.probing.grammar import (
    PEOPLE,
    PLACES,
    Sentence,
    Side,
    corpus,
    listed,
    pick,
    pick_different,
    token_dataset,
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


def _noun_or_verb(rng: np.random.Generator, side: Side, tag: str, word: str) -> tuple[list[str], int]:
    """A clause with the word as a noun or a verb, and the place of the word in it."""
    person = pick(rng, side.words(PEOPLE))
    frame = int(rng.integers(3))
    if tag == "NOUN":
        determiner = pick(rng, ("the", "this", "every"))
        if frame == 0:
            return [determiner, word, pick(rng, side.words(SURPRISED)), "the", person.singular], 1
        if frame == 1:
            return ["the", person.singular, pick(rng, side.words(LIKED)), determiner, word], 4
        return ["the", person.singular, pick(rng, side.words(MOVED)), "near", determiner, word], 5
    if frame == 0:
        return ["the", person.plural, word, "in", "the", pick(rng, side.words(PLACES))], 2
    if frame == 1:
        return ["the", person.singular, "will", word, "near", "the", pick(rng, side.words(PLACES))], 3
    return ["the", person.singular, pick(rng, side.words(LIKED)), "to", word], 4


def _adjective_or_adverb(rng: np.random.Generator, side: Side, tag: str, word: str) -> tuple[list[str], int]:
    """A clause with the word as an adjective or an adverb, and the place of the word in it."""
    person = pick(rng, side.words(PEOPLE)).form(pick(rng, ("singular", "plural")))
    event = pick(rng, side.words(EVENTS))
    if tag == "ADJ":
        if rng.random() < 0.5:
            return ["the", word, event, pick(rng, side.words(SURPRISED)), "the", person], 1
        return ["the", person, pick(rng, side.words(LIKED)), "the", word, event], 4
    if rng.random() < 0.5:
        return ["the", person, pick(rng, side.words(MOVED)), word], 3
    return ["the", person, pick(rng, side.words(MOVED)), word, "near", "the", event], 3


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    halves = [
        (wanted["first"], *_noun_or_verb(rng, side, wanted["first"], pick(rng, side.words(NOUN_OR_VERB)))),
        (
            wanted["second"],
            *_adjective_or_adverb(rng, side, wanted["second"], pick(rng, side.words(ADJECTIVE_OR_ADVERB))),
        ),
    ]
    words: list[str] = []
    marked: dict[int, str] = {}
    for i, half in enumerate(pick_different(rng, halves, 2)):
        if i:
            words += [pick(rng, ("and", "but", "while"))]
        tag, clause, place = half
        marked[len(words) + place] = tag
        words += clause
    return Sentence(tuple(words), marked)


def _build(sentences: int, seed: int) -> Dataset:
    factors = {"first": ("NOUN", "VERB"), "second": ("ADJ", "ADV")}
    texts, in_test, _, marked = corpus(sentences, seed, factors, _make)
    return token_dataset("part_of_speech", texts, in_test, marked)


FAMILY = (
    Task(
        name="part_of_speech",
        title="Part of speech",
        level="token",
        kind="syntax",
        question="Noun, verb, adjective or adverb? Each word asked about can be one of two.",
        build=_build,
    ),
)
