"""Sentiment: did the writer like it? Opinions on films, books, meals, hotels, lessons and gadgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.sets.writing import Deck, fill_template, generator, numbered, tables
from training.finetuning.data import Labelled, Split

LABELS: Final = ("negative", "positive")
_PER_TEMPLATE: Final = 6


WRITINGS: Final[Mapping[str, Mapping[str, Any]]] = tables("sentiment")
"""What the sentences of each split are written from; no template and no word of it is used in another split.

A template makes ``_PER_TEMPLATE`` sentences. In it {adj}, {verdict}, {verb}, {effect} and {reaction} are of the label's
side, {anti} is of the other: so every template makes sentences of both labels. ``topics`` are what opinions are about:
things, parts of theirs (with a star: plural), and what one says of either, ``good`` or ``bad``.
"""


def make_items(split: Split) -> list[tuple[int, Labelled]]:
    """All opinions, each with its number in the split; those of one template stand together."""
    writing = WRITINGS[split]
    rng = generator(split)

    def deck(words: str) -> Deck[str]:
        return Deck(rng, words.split())

    names, kin = deck(writing["names"]), deck(writing["kin"])
    # Of each side of the label: what is drawn where a template asks for it (some parts have none of it).
    drawn = {
        "verdict": [deck(words) for words in writing["verdicts"]],
        "verb": [deck(words) for words in writing["verbs"]],
        "effect": [Deck(rng, phrases.split(", ")) for phrases in writing["effects"]],
        "reaction": [Deck(rng, clauses.split(", ")) for clauses in writing["reactions"]],
    }
    topics = Deck(
        rng,
        [
            (
                deck(topic["things"]),
                deck(topic["parts"]),
                [
                    deck(f"{of_topic} {words}")
                    for of_topic, words in zip((topic["bad"], topic["good"]), writing["verdicts"], strict=True)
                ],
            )
            for topic in writing["topics"]
        ],
    )

    def sentence(template: str, side: int) -> str:
        things, parts, adjectives = topics.draw()
        part, name, adjective = parts.draw(), names.draw(), adjectives[side].draw()
        words = {
            "thing": things.draw(),
            "part": part.rstrip("*"),
            "part_was": f"{part.rstrip('*')} {'were' if part.endswith('*') else 'was'}",
            "adj": adjective,
            "adj2": adjectives[side].draw(adjective),
            "anti": adjectives[1 - side].draw(),
            "name": name,
            "name2": names.draw(name),
        }
        words |= {slot: decks[side].draw() for slot, decks in drawn.items() if f"{{{slot}}}" in template}
        if "{kin}" in template:
            words["kin"] = kin.draw()
        return fill_template(template, words)

    items: dict[str, Labelled] = {}
    for template in writing["templates"]:
        for side, label in enumerate(LABELS):
            made = 0
            while made < _PER_TEMPLATE // len(LABELS):
                text = sentence(template, side)
                made += text not in items
                items.setdefault(text, Labelled(text, None, label, template))
    return numbered(rng, tuple(items.values()))
