"""Entities: people, places and organizations in sentences, a tag for each word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tools.sets.writing import Deck, generator, numbered, tables
from training.finetuning.data import OUTSIDE, Split, Tagged

TYPES: Final = ("ORGANIZATION", "PERSON", "PLACE")
LABELS: Final = (OUTSIDE, *(f"{mark}-{type_}" for type_ in TYPES for mark in "BI"))
_COUNTS: Final[Mapping[Split, int]] = {"train": 280, "dev": 80, "test": 80}
_WITHOUT = 0.1  # of the sentences hold no entity
_SLOT = re.compile(r"\{([plco])\}")
_TYPES = {"p": "PERSON", "l": "PLACE", "c": "PLACE", "o": "ORGANIZATION"}


WORDS: Final[Mapping[str, Mapping[str, Any]]] = tables("entities")
"""By split: names with commas between, of people (``first``, ``last``), ``cities``, ``countries``, ``organizations``;
``templates``, in which {p} is a person, {o} an organization, {c} a city, {l} a city or a country; and sentences
``without`` entities, some with words that are names elsewhere.
"""


def names(split: Split, kind: str) -> tuple[str, ...]:
    """The names of one kind."""
    return tuple(name.strip() for name in WORDS[split][kind].split(","))


def _entity(kind: str, decks: Mapping[str, Deck[str]], rng: np.random.Generator, used: list[str]) -> list[str]:
    """The words of one that is not among the names ``used``, which are added to."""
    if kind != "p":
        used.append(decks[kind].draw(*used))
        return used[-1].split()
    first, last = decks["first"].draw(*used), decks["last"].draw(*used)
    used += [first, last]
    drawn = rng.random()
    if drawn < 0.6:
        return [first, last]
    return [first] if drawn < 0.85 else [last]


def _filled(template: str, decks: Mapping[str, Deck[str]], rng: np.random.Generator) -> Tagged:
    words: list[str] = []
    tags: list[str] = []
    used: list[str] = []
    for piece in template.split():
        slot = _SLOT.fullmatch(piece)
        if slot is None:
            words.append(piece)
            tags.append(OUTSIDE)
            continue
        name = _entity(slot[1], decks, rng, used)
        if name[0] == "the":  # no part of the name
            words.append("the" if words else "The")
            tags.append(OUTSIDE)
            name = name[1:]
        words += name
        tags += [f"B-{_TYPES[slot[1]]}", *[f"I-{_TYPES[slot[1]]}"] * (len(name) - 1)]
    return Tagged(tuple(words), tuple(tags), template)


def make_items(split: Split) -> list[tuple[int, Tagged]]:
    """All sentences, each with its number in the split; those without an entity first."""
    rng = generator(split)
    decks = {
        "first": Deck(rng, names(split, "first")),
        "last": Deck(rng, names(split, "last")),
        "l": Deck(rng, names(split, "cities") + names(split, "countries")),
        "c": Deck(rng, names(split, "cities")),
        "o": Deck(rng, names(split, "organizations")),
    }
    templates, without = Deck[str](rng, WORDS[split]["templates"]), Deck[str](rng, WORDS[split]["without"])
    n_without = round(_WITHOUT * _COUNTS[split])
    items = {}
    for _ in range(n_without):
        words = tuple(without.draw().split())
        items[words] = Tagged(words, (OUTSIDE,) * len(words))
    while len(items) < _COUNTS[split]:
        item = _filled(templates.draw(), decks, rng)
        items[item.words] = item
    return numbered(rng, list(items.values()))
