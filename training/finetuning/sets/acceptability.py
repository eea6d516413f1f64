"""Acceptability: is it a sentence of English? Minimal pairs of ten kinds, in the manner of CoLA (Warstadt et al. 2019)
and BLiMP (Warstadt et al. 2020), with the words of the probing tasks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from analysis.minimal_pairs import MinimalPair
from analysis.probing.grammar import ADJECTIVES, ADVERBS, PEOPLE, PLACES, THINGS, TRANSITIVE, listed
from training.finetuning.data import BuiltIn, Labelled, Split
from training.finetuning.writing import Deck, generator, shuffled, written

T = TypeVar("T")

LABELS: Final = ("unacceptable", "acceptable")
_PAIRS: Final[Mapping[Split, int]] = {"train": 280, "dev": 40, "test": 80}

# Without an article these can be names (King, Uncle), titles or masses (some rope), which would be acceptable.
_NOT_COMMON = frozenset(
    listed("king queen prince uncle cousin monk neighbor judge stone rope carpet blanket candle plate")
)
_STATES = frozenset(listed("know like need want love hate miss remember recognize"))
"""What nobody is told to do, or does to themselves on purpose."""
_WITH_OBJECT = frozenset(listed("find carry touch bring describe admire ignore lift examine protect discover hold"))
"""Verbs that are not used without an object."""
_COMPARATIVES = dict(
    pair.split("/")
    for pair in listed(
        "old/older small/smaller tall/taller dirty/dirtier ugly/uglier large/larger heavy/heavier new/newer "
        "lovely/lovelier plain/plainer simple/simpler tiny/tinier"
    )
)
_WITHOUT_OBJECT: Final[Mapping[Split, str]] = {
    "train": "disappeared vanished arrived fell slept",
    "dev": "emerged wept",
    "test": "appeared laughed sneezed",
}
_MEN: Final[Mapping[Split, str]] = {
    "train": "king uncle father monk",
    "dev": "grandfather",
    "test": "boy gentleman bridegroom",
}
_WOMEN: Final[Mapping[Split, str]] = {"train": "queen aunt mother nun", "dev": "grandmother", "test": "girl lady bride"}

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
            "near the {place} [a|] {sg} {past} it",
            "near the {place} [|a] {pl} {past} it",
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
            "the {sg} made the {sg2} [|to] {do} the {o}",
            "the {sg} told the {sg2} [to|] {do} the {o}",
            "the {sg} can [|to] {do} the {o}",
            "the {sg} decided [to|] {do} the {o}",
        ),
        "dev": (
            "the {pl} could [|to] {do} their {o}",
            "the {pl} promised [to|] {do} their {o}",
        ),
        "test": (
            "we heard the {sg} [|to] {do} the {o}",
            "we allowed the {sg} [to|] {do} the {o}",
            "her {sg} should [|to] {do} a {adj} {o}",
            "her {sg} hoped [to|] {do} a {adj} {o}",
        ),
    },
    "reflexives": {
        "train": (
            "the {man} {did} [himself|herself] in the {place}",
            "the {woman} {did} [herself|himself] in the {place}",
            "the {pl} {did} [themselves|himself] {adv}",
            "the {man} {did} [himself|themselves] {adv}",
        ),
        "dev": (
            "I {did} [myself|ourselves] near the {place}",
            "we {did} [ourselves|myself] near the {place}",
        ),
        "test": (
            "the {woman} who {past} the {man} {did2} [herself|himself]",
            "the {man} who {past} the {woman} {did2} [himself|herself]",
            "the {pl} behind the {woman} {did} [themselves|herself]",
            "the {woman} behind the {pl} {did} [herself|themselves]",
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
            "at the {place} the {sg} [{past}|{base}] the {o}",
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
            "the {sg} is [{er}|{grade}] than the {sg2}",
            "the {sg} is as [{grade}|{er}] as the {sg2}",
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


def _words(words: Sequence[T], split: Split) -> list[T]:
    """One split's of a list: of eight words, five are for training, two for the test, one for development."""
    share = {"train": (0, 1, 3, 4, 6), "dev": (7,), "test": (2, 5)}[split]
    return [word for place, word in enumerate(words) if place % 8 in share]


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
    people, things = (
        Deck(rng, _words([noun for noun in nouns if noun.singular not in _NOT_COMMON], split))
        for nouns in (PEOPLE, THINGS)
    )
    all_verbs = _words([verb for verb in TRANSITIVE if verb.base not in _STATES], split)
    verbs = Deck(rng, all_verbs)
    with_object = Deck(rng, [verb for verb in all_verbs if verb.base in _WITH_OBJECT])
    without_object, men, women = (Deck(rng, words[split].split()) for words in (_WITHOUT_OBJECT, _MEN, _WOMEN))
    adjectives = _words(ADJECTIVES, split)
    grades = Deck(rng, [word for word in adjectives if word in _COMPARATIVES])
    single = {
        "adj": Deck(rng, adjectives),
        "adv": Deck(rng, _words(ADVERBS, split)),
        "place": Deck(rng, _words(PLACES, split)),
        "gone": without_object,
        "man": men,
        "woman": women,
    }

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
        words |= {"base": verb.base, "third": verb.third, "past": verb.past, "do": verb.base, "did": verb.past}
        words |= {"base2": next_verb.base, "third2": next_verb.third, "did2": next_verb.past}
        words["done"] = with_object.draw().past
        words["grade"] = grades.draw()
        words["er"] = _COMPARATIVES[words["grade"]]
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
**800 sentences** in 400 minimal pairs of an acceptable and an unacceptable one, made from 100 templates with the word
lists of the probing tasks: 560 to train on, 80 for development, 160 for the test. The set follows the idea of CoLA
(Warstadt et al. 2019) and BLiMP (Warstadt et al. 2020), and takes no sentence from them.

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
