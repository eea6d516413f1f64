"""Acceptability: is it a sentence of English? Minimal pairs of ten kinds, in the manner of CoLA (Warstadt et al. 2019)
and BLiMP (Warstadt et al. 2020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from analysis.minimal_pairs import MinimalPair
from analysis.probing.grammar import PEOPLE, THINGS, TRANSITIVE
from tools.sets.writing import Deck, fill_template, generator, numbered, tables
from training.finetuning.data import Labelled, Split

LABELS: Final = ("unacceptable", "acceptable")
_PAIRS: Final[Mapping[Split, int]] = {"train": 280, "dev": 40, "test": 80}


_TABLES: Final = tables("acceptability")
WORDS: Final[Mapping[Split, Mapping[str, Any]]] = _TABLES["words"]
"""What the slots of each split's templates are filled with.

Chosen so that no bad sentence has a good reading: nouns that need an article, also as names or titles (not "king");
``verbs`` that are not the past of another ("did not saw it") and after which no bare infinitive stands ("noticed
him hide it"); ``with_object`` are pasts that need one, also of a group ("the tailors touched") and before "in"
("brought in"); ``without_object`` never take one (trees are felled, and people disappeared). ``reflexive`` is what
one does to oneself; ``grades``, of people and of things, are written with their comparatives.
"""
TEMPLATES: Final[Mapping[str, Mapping[Split, Sequence[str]]]] = _TABLES["templates"]
"""By kind of mistake, with [acceptable|unacceptable] in them. Both sides of a kind use the same function words equally
often: where one template has "these" wrongly, another has it rightly.
"""

KIND_OF: Final[Mapping[str, str]] = {
    template: kind for kind, by_split in TEMPLATES.items() for templates in by_split.values() for template in templates
}
"""The kind of mistake that each template is about."""

_NOUNS: Final = {noun.singular: noun for noun in (*PEOPLE, *THINGS)}
_VERBS: Final = {verb.base: verb for verb in TRANSITIVE}
_SINGLE: Final = {
    "adj": "adjectives",
    "adv": "adverbs",
    "place": "places",
    "own": "reflexive",
    "gone": "without_object",
    "done": "with_object",
    "man": "men",
    "woman": "women",
}
"""The words of a split that fill each slot that is about nothing else."""


def make_items(split: Split) -> list[tuple[int, Labelled]]:
    """Both sentences of every pair, each with its number in the split, the unacceptable one first."""
    rng = generator(split)
    items = [
        Labelled(text, None, label, pair.paradigm)
        for pair in _pairs(rng, split)
        for text, label in zip((pair.bad, pair.good), LABELS, strict=True)
    ]
    return numbered(rng, items)


def _pairs(rng: np.random.Generator, split: Split) -> tuple[MinimalPair, ...]:
    of_split = WORDS[split]
    people, things = (Deck(rng, [_NOUNS[word] for word in of_split[kind].split()]) for kind in ("people", "things"))
    verbs = Deck(rng, [_VERBS[word] for word in of_split["verbs"].split()])
    single = {slot: Deck(rng, of_split[field].split()) for slot, field in _SINGLE.items()}
    grades = [Deck(rng, words.split()) for words in of_split["grades"]]

    def fill(template: str) -> tuple[str, str]:
        slots = set(re.findall(r"{(\w+)}", template))
        words = {slot: deck.draw() for slot, deck in single.items() if slot in slots}
        first = people.draw()
        other = people.draw(first)
        thing = things.draw()
        second = things.draw(thing)
        words |= {"sg": first.singular, "pl": first.plural, "sg2": other.singular, "pl2": other.plural}
        words |= {"o": thing.singular, "os": thing.plural, "o2": second.singular}
        verb = verbs.draw()
        next_verb = verbs.draw(verb)
        words |= {"base": verb.base, "third": verb.third, "past": verb.past, "do": verb.base}
        words |= {"base2": next_verb.base, "third2": next_verb.third}
        for slot, deck in zip(("{tall}", "{grade}"), grades, strict=True):
            if slot in template:
                words[slot[1:-1]], words["er"] = deck.draw().split("/")
        good, bad = (re.sub(r"\[(.*?)\|(.*?)\]", rf"\{side}", template) for side in (1, 2))
        return fill_template(good, words), fill_template(bad, words)

    pairs: list[MinimalPair] = []
    known: set[str] = set()
    for kind, templates in TEMPLATES.items():
        n = _PAIRS[split] // (len(TEMPLATES) * len(templates[split]))
        for template in templates[split]:
            made = 0
            while made < n:
                pair = fill(template)
                if not known & set(pair):
                    known |= set(pair)
                    pairs.append(MinimalPair(*pair, kind, template))
                    made += 1
    return tuple(pairs)
