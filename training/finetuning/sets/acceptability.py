"""Acceptability: is it a sentence of English? Minimal pairs of ten kinds, in the manner of CoLA (Warstadt et al. 2019)
and BLiMP (Warstadt et al. 2020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis.minimal_pairs import MinimalPair
from analysis.probing.grammar import PEOPLE, THINGS, TRANSITIVE
from training.finetuning.data import BuiltIn, Labelled, Split
from training.finetuning.writing import Deck, generator, shuffled, written

LABELS: Final = ("unacceptable", "acceptable")
_PAIRS: Final[Mapping[Split, int]] = {"train": 280, "dev": 40, "test": 80}


@dataclass(frozen=True, slots=True)
class Words:
    """What the slots of one split's templates are filled with.

    Chosen so that no bad sentence has a good reading: nouns that need an article, also as names or titles (not "king");
    ``verbs`` that are not the past of another ("did not saw it") and after which no bare infinitive stands ("noticed
    him hide it"); ``with_object`` are pasts that need one, also of a group ("the tailors touched") and before "in"
    ("brought in"); ``without_object`` never take one (trees are felled, and people disappeared). ``own`` is what one
    does to oneself; ``grades``, of people and of things, are written with their comparatives.
    """

    people: str
    things: str
    verbs: str
    own: str
    with_object: str
    without_object: str
    men: str
    women: str
    adjectives: str
    grades: tuple[str, str]
    adverbs: str
    places: str


WORDS: Final[Mapping[Split, Words]] = {
    "train": Words(
        people="farmer doctor teacher painter baker driver hunter guard butcher poet pilot writer tailor clerk mayor "
        "thief student sailor",
        things="lamp table box bottle basket ladder hammer barrel mirror clock letter book hat coat kettle cart boat "
        "flag vase",
        verbs="hide paint follow push touch bring admire choose protect photograph lift",
        own="hid painted touched admired protected photographed",
        with_object="admired protected avoided praised",
        without_object="arrived slept yawned snored blushed",
        men="king uncle father monk",
        women="queen aunt mother nun",
        adjectives="old strange beautiful ugly elegant little lovely small",
        grades=("old/older tall/taller small/smaller ugly/uglier", "old/older new/newer small/smaller ugly/uglier"),
        adverbs="quietly slowly secretly quickly repeatedly",
        places="garden kitchen village forest market castle church station museum",
    ),
    "dev": Words(
        people="miner singer waiter actor",
        things="bag bucket coin pillow",
        verbs="move ignore pull",
        own="moved ignored pulled",
        with_object="ignored blamed",
        without_object="emerged wept",
        men="grandfather",
        women="grandmother",
        adjectives="dirty splendid tiny",
        grades=("", "dirty/dirtier tiny/tinier cheap/cheaper"),
        adverbs="gently calmly",
        places="harbor tunnel barn",
    ),
    "test": Words(
        people="nurse soldier lawyer priest dancer banker",
        things="cup wheel map ring statue drum chair",
        verbs="carry draw hold describe examine study",
        own="examined described drew studied",
        with_object="examined greeted thanked",
        without_object="appeared laughed sneezed",
        men="boy gentleman bridegroom",
        women="girl lady bride",
        adjectives="large heavy curious fine",
        grades=("", "large/larger heavy/heavier fine/finer"),
        adverbs="silently briefly suddenly",
        places="school library theater park",
    ),
}

# [acceptable|unacceptable]. Both sides of a kind use the same function words equally often: where one template has
# "these" wrongly, another has it rightly.
_TEMPLATES: Final[Mapping[str, Mapping[Split, Sequence[str]]]] = {
    "agreement of subject and verb": {
        "train": (
            "the {sg} near the {pl2} [{third}|{base}] the {o}",
            "the {pl} near the {sg2} [{base}|{third}] the {o}",
            "the {sg} that the {pl2} {past} [{third2}|{base2}] the {o}",
            "the {pl} that the {sg2} {past} [{base2}|{third2}] the {o}",
        ),
        "dev": (
            "in the {place} the {sg} with the {pl2} [{third}|{base}] a {adj} {o}",
            "in the {place} the {pl} with the {sg2} [{base}|{third}] a {adj} {o}",
        ),
        "test": (
            "the {adj} {sg} behind the {pl2} always [{third}|{base}] this {o}",
            "the {adj} {pl} behind the {sg2} always [{base}|{third}] this {o}",
            "the {sg} who {past} the {pl2} {adv} [{third2}|{base2}] a {o}",
            "the {pl} who {past} the {sg2} {adv} [{base2}|{third2}] a {o}",
        ),
    },
    "order of words": {
        "train": (
            "the [{adj} {sg}|{sg} {adj}] {past} the {o}",
            "the {sg} {past} [a {adj}|{adj} a] {o}",
            "the {sg} {past} the {o} [near the|the near] {place}",
            "the {sg} and the {pl2} [{past} the|the {past}] {o}",
        ),
        "dev": (
            "the {pl} [would not|not would] {base} the {o}",
            "the {sg} {past} [two {adj}|{adj} two] {os}",
        ),
        "test": (
            "she {past} the {o} [under her|her under] {adj} {o2}",
            "their [{adj} {sg}|{sg} {adj}] {past} it",
            "the {pl} [who {past}|{past} who] the {sg2} are here",
            "it was the {sg} [who {past}|{past} who] the {o}",
        ),
    },
    "number of determiner and noun": {
        "train": (
            "the {sg} {past} [this|these] {o}",
            "the {sg} {past} [these|this] {os}",
            "the {pl} {past} many [{os}|{o}] near the {place}",
            "the {pl} {past} one [{o}|{os}] near the {place}",
        ),
        "dev": (
            "the {adj} {sg} {past} several [{os}|{o}] {adv}",
            "the {adj} {sg} {past} each [{o}|{os}] {adv}",
        ),
        "test": (
            "[that|those] {sg} {past} the {adj} {o}",
            "[those|that] {pl} {past} the {adj} {o}",
            "we {past} every [{o}|{os}] by the {place}",
            "we {past} both [{os}|{o}] by the {place}",
        ),
    },
    "articles": {
        "train": (
            "the {sg} {past} [a|] {o} in the {place}",
            "the {sg} {past} [|a] {os} in the {place}",
            "yesterday [a|] {sg} {past} it near the {place}",
            "yesterday [|a] {pl} {past} it near the {place}",
        ),
        "dev": (
            "he {past} [a|] {adj} {o} and the {o2}",
            "he {past} [|a] {adj} {os} and the {o2}",
        ),
        "test": (
            "they {past} the {o} for [a|] {sg}",
            "they {past} the {o} for [|a] {pl}",
            "there was [a|] {adj} {o} in her {place}",
            "there were [|a] {adj} {os} in her {place}",
        ),
    },
    "infinitives with and without “to”": {
        "train": (
            "the {sg} let the {sg2} [|to] {do} the {o}",
            "the {sg} told the {sg2} [to|] {do} the {o}",
            "the {sg} can [|to] {do} the {o}",
            "the {sg} decided [to|] {do} the {o}",
        ),
        "dev": (
            "the {pl} could [|to] {do} their {o}",
            "the {pl} promised [to|] {do} their {o}",
        ),
        "test": (
            "the {sg} had better [|to] {do} the {o}",
            "we allowed the {sg} [to|] {do} the {o}",
            "her {sg} should [|to] {do} a {adj} {o}",
            "her {sg} hoped [to|] {do} a {adj} {o}",
        ),
    },
    "reflexives": {
        "train": (
            "the {man} {own} [himself|herself] in the {place}",
            "the {woman} {own} [herself|himself] in the {place}",
            "the {pl} {own} [themselves|himself] {adv}",
            "the {man} {own} [himself|themselves] {adv}",
        ),
        "dev": (
            "I {own} [myself|ourselves] near the {place}",
            "we {own} [ourselves|myself] near the {place}",
        ),
        "test": (
            "the {woman} who {past} the {man} {own} [herself|himself]",
            "the {man} who {past} the {woman} {own} [himself|herself]",
            "the {pl} behind the {woman} {own} [themselves|herself]",
            "the {woman} behind the {pl} {own} [herself|themselves]",
        ),
    },
    "objects": {
        "train": (
            "the {sg} {gone} [|it] in the {place}",
            "the {sg} {done} [it|] in the {place}",
            "the {adj} {pl} {gone} [|them]",
            "the {adj} {pl} {done} [them|]",
        ),
        "dev": (
            "once more the {pl} {gone} [|her]",
            "once more the {pl} {done} [her|]",
        ),
        "test": (
            "when the {sg} {gone} [|him], the {pl2} were there",
            "when the {sg} {done} [him|], the {pl2} were there",
            "every {sg} {gone} [|us] {adv}",
            "every {sg} {done} [us|] {adv}",
        ),
    },
    "forms of the verb": {
        "train": (
            "the {sg} did not [{base}|{past}] the {o}",
            "the {sg} never [{past}|{base}] the {o}",
            "the {sg} will [{base}|{past}] the {o} in the {place}",
            "in the {place} the {sg} [{past}|{base}] the {o}",
        ),
        "dev": (
            "the {adj} {sg} might [{base}|{past}] it",
            "the {adj} {sg} often [{past}|{base}] it",
        ),
        "test": (
            "why did the {sg} [{base}|{past}] the {o}?",
            "which {sg} [{past}|{base}] the {o}?",
            "the {sg} must [{base}|{past}] her {o}",
            "the {sg} {adv} [{past}|{base}] her {o}",
        ),
    },
    "case of pronouns": {
        "train": (
            "the {sg} {past} [him|he] near the {place}",
            "near the {place} [he|him] {past} the {sg}",
            "the {pl} {past} [them|they] {adv}",
            "in the {place} [they|them] {past} the {o}",
        ),
        "dev": (
            "{adv} [she|her] {past} this {o}",
            "this {sg} {past} [her|she] {adv}",
        ),
        "test": (
            "the {sg} near [us|we] {past} the {o}",
            "the {o} that [we|us] {past} was {adj}",
            "both {pl} {past} [me|I]",
            "behind the {place} [I|me] {past} both {os}",
        ),
    },
    "comparison": {
        "train": (
            "the {sg} is [{er}|{tall}] than the {sg2}",
            "the {sg} is as [{tall}|{er}] as the {sg2}",
            "the {o} was much [{er}|{grade}] than the {o2}",
            "the {o} was very [{grade}|{er}]",
        ),
        "dev": (
            "this {o} is no [{er}|{grade}] than that {o2}",
            "this {o} is not so [{grade}|{er}]",
        ),
        "test": (
            "the {sg} {past} a [{er}|{grade}] {o} than the {pl2}",
            "the {sg} {past} as [{grade}|{er}] a {o} as the {pl2}",
            "is their {o} [{er}|{grade}] than before?",
            "how [{grade}|{er}] is their {o}?",
        ),
    },
}

KINDS: Final = tuple(_TEMPLATES)
"""The ten kinds of pairs."""


_NOUNS: Final = {noun.singular: noun for noun in (*PEOPLE, *THINGS)}
_VERBS: Final = {verb.base: verb for verb in TRANSITIVE}
_SINGLE: Final = {
    "adj": "adjectives",
    "adv": "adverbs",
    "place": "places",
    "own": "own",
    "gone": "without_object",
    "done": "with_object",
    "man": "men",
    "woman": "women",
}
"""The words of a split that fill each slot that is about nothing else."""


def pairs(split: Split) -> tuple[MinimalPair, ...]:
    """The pairs that the items of a split are made from, with their kind as phenomenon and template as paradigm."""
    return _pairs(generator(split), split)


def _items(split: Split) -> tuple[Labelled, ...]:
    rng = generator(split)
    items = [
        Labelled(text, None, label, pair.paradigm)
        for pair in _pairs(rng, split)
        for text, label in zip((pair.bad, pair.good), LABELS, strict=True)
    ]
    return shuffled(rng, items)


def _pairs(rng: np.random.Generator, split: Split) -> tuple[MinimalPair, ...]:
    of_split = WORDS[split]
    people, things = (
        Deck(rng, [_NOUNS[word] for word in words.split()]) for words in (of_split.people, of_split.things)
    )
    verbs = Deck(rng, [_VERBS[word] for word in of_split.verbs.split()])
    single = {slot: Deck(rng, getattr(of_split, field).split()) for slot, field in _SINGLE.items()}
    grades = [Deck(rng, words.split()) for words in of_split.grades]

    def fill(template: str) -> tuple[str, str]:
        asked = set(re.findall(r"{(\w+)}", template))
        words = {slot: deck.draw() for slot, deck in single.items() if slot in asked}
        one = people.draw()
        other = people.draw(one)
        thing = things.draw()
        second = things.draw(thing)
        words |= {"sg": one.singular, "pl": one.plural, "sg2": other.singular, "pl2": other.plural}
        words |= {"o": thing.singular, "os": thing.plural, "o2": second.singular}
        verb = verbs.draw()
        next_verb = verbs.draw(verb)
        words |= {"base": verb.base, "third": verb.third, "past": verb.past, "do": verb.base}
        words |= {"base2": next_verb.base, "third2": next_verb.third}
        for slot, deck in zip(("{tall}", "{grade}"), grades, strict=True):
            if slot in template:
                words[slot[1:-1]], words["er"] = deck.draw().split("/")
        good, bad = (re.sub(r"\[(.*?)\|(.*?)\]", rf"\{side}", template) for side in (1, 2))
        return written(good, words), written(bad, words)

    found: list[MinimalPair] = []
    known: set[str] = set()
    for kind, templates in _TEMPLATES.items():
        n = _PAIRS[split] // (len(_TEMPLATES) * len(templates[split]))
        for template in templates[split]:
            made = 0
            while made < n:
                pair = fill(template)
                if not known & set(pair):
                    known |= set(pair)
                    found.append(MinimalPair(*pair, kind, template))
                    made += 1
    return tuple(found)


SET = BuiltIn(
    name="acceptability",
    title="Acceptability",
    kind="classification",
    question="Is it an acceptable English sentence?",
    card="""\
**800 sentences** in 400 minimal pairs of an acceptable and an unacceptable one, made from 100 templates: 560 to train
on, 80 for development, 160 for the test. The set follows the idea of CoLA (Warstadt et al. 2019) and BLiMP (Warstadt et
al. 2020), and takes no sentence from them.

There are ten kinds of mistake, each equally often in every split: agreement of subject and verb (with another noun
between them), order of words, number of determiner and noun, articles, infinitives with and without “to”, reflexives,
missing and superfluous objects, forms of the verb after “did”, “must” and the like, case of pronouns, comparison.

**Balance.** Half of each split is acceptable. What is wrong in one sentence is right in another (“these boxes”, but not
“these box”), so no single word and no length gives a mistake away.

**How the splits are kept apart.** No template is used in two splits, and the splits share only function words: nouns,
verbs, adjectives, adverbs and places are all different. Both sentences of a pair are in the same split. The test has
the same kinds of mistake as the training split, in other sentences.

**What it cannot show.** Linguists' sentences have many more kinds of mistake, and many on which speakers differ; here
each is plainly wrong or plainly right. Some sentences say odd things (“The dancer described the drum”): being odd is
not a mistake.
""",
    items=_items,
    labels=LABELS,
    measure="mcc",
    tries=(
        ("The books on the shelf belongs to my sister.", None),
        ("The books on the shelf belong to my sister.", None),
        ("Yesterday we have ate the whole cake.", None),
        ("She asked her brother to wash the car.", None),
    ),
)
