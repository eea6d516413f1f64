"""Word lists and sentence building for the built-in tasks, written for this project.

Every open-class list is cut in two: two words out of three belong to the training sentences, the third to those of
development and test, so that a probe cannot pass by having met the words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from analysis.probing.data import DEV, DEV_SHARE, TEST, TEST_SHARE, TRAIN, Dataset, sentence_dataset
from model_zoo.errors import InvalidInput
from model_zoo.types import IntArray

T = TypeVar("T")


class Noun(NamedTuple):
    """A noun and its plural."""

    singular: str
    plural: str

    def form(self, number: str) -> str:
        return self.plural if number == "plural" else self.singular


class Verb(NamedTuple):
    """Base form, third person singular and past of a verb."""

    base: str
    third: str
    past: str

    def finite(self, tense: str, number: str) -> str:
        if tense == "past":
            return self.past
        return self.base if number == "plural" else self.third


def listed(words: str) -> tuple[str, ...]:
    """A word list, written with spaces."""
    return tuple(words.split())


WORDS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
"""Word lists, by name; those of one task are a table of its own."""


def _nouns(words: str) -> tuple[Noun, ...]:
    """Nouns with their plural: add -s, or written as singular/plural."""
    return tuple(Noun(*word.split("/")) if "/" in word else Noun(word, word + "s") for word in words.split())


def _verbs(words: str) -> tuple[Verb, ...]:
    """Verbs written as base/past, or base alone where the past is regular."""
    verbs = []
    for word in words.split():
        base, _, past = word.partition("/")
        if base.endswith(("ch", "sh", "ss")):
            third = base + "es"
        elif base.endswith("y") and base[-2] not in "aeiou":
            third = base[:-1] + "ies"
        else:
            third = base + "s"
        verbs.append(Verb(base, third, past or (base + "d" if base.endswith("e") else base + "ed")))
    return tuple(verbs)


PEOPLE = _nouns(WORDS["people"])
ANIMALS = _nouns(WORDS["animals"])
THINGS = _nouns(WORDS["things"])
PLACES = listed(WORDS["places"])
# By kind, in the order in which English puts them before a noun: what one thinks of it, size, age, colour, origin.
KINDS_OF_ADJECTIVES = tuple(map(listed, WORDS["adjectives"]))
ADJECTIVES = tuple(word for words in KINDS_OF_ADJECTIVES for word in words)
_KIND = {word: kind for kind, words in enumerate(KINDS_OF_ADJECTIVES) for word in words}
ADVERBS = listed(WORDS["adverbs"])
# What a person and a thing can do alike; past forms, which do not show the number of the subject.
NEUTRAL_PAST = listed(WORDS["neutral_past"])
# Verbs that take a person or a thing as their object.
TRANSITIVE = _verbs(WORDS["transitive"])
# Not "by", which after "moved" or "burned" may name who did it, nor "at", which few of the places take.
PREPOSITIONS = ("near", "behind", "beside", "above", "under")


@dataclass(frozen=True, slots=True)
class Side:
    """The words of one side of the split: training (two out of three) or held out (every third)."""

    held_out: bool

    def words(self, words: Sequence[T]) -> tuple[T, ...]:
        return tuple(word for i, word in enumerate(words) if (i % 3 == 2) == self.held_out)


def pick(rng: np.random.Generator, words: Sequence[T]) -> T:
    """Draws one of the words, all equally likely."""
    return words[int(rng.integers(len(words)))]


def pick_different(rng: np.random.Generator, words: Sequence[T], count: int) -> list[T]:
    """Draws that many different words."""
    return [words[int(i)] for i in rng.choice(len(words), size=count, replace=False)]


def pick_adjectives(rng: np.random.Generator, words: Sequence[str], count: int) -> list[str]:
    """Draws that many adjectives for one noun in the order of English, no two of a kind: nothing is tiny and huge."""
    chosen: dict[int, str] = {}
    for word in pick_different(rng, words, len(words)):
        if len(chosen) < count:
            chosen.setdefault(_KIND[word], word)
    return [chosen[kind] for kind in sorted(chosen)]


def balanced(rng: np.random.Generator, labels: Sequence[str], count: int) -> list[str]:
    """``count`` labels in random order, each as often as the others (give or take one)."""
    drawn = rng.permutation(np.arange(count) % len(labels))
    return [labels[int(i)] for i in drawn]


class Sentence(NamedTuple):
    """Words of a sentence in order (punctuation is a word of its own), and label of the marked words by place."""

    words: tuple[str, ...]
    marked: dict[int, str]


def written(words: Iterable[str]) -> tuple[str, list[tuple[int, int]]]:
    """The words as a text with a capital and a full stop, and each word's span of characters [start, end)."""
    text, spans = "", []
    for word in words:
        if text and word != ",":
            text += " "
        spans.append((len(text), len(text) + len(word)))
        text += word
    return text[0].upper() + text[1:] + ".", spans


Factors = Mapping[str, Sequence[str]]
Make = Callable[[np.random.Generator, Side, dict[str, str]], Sentence]


def corpus(
    sentences: int,
    seed: int,
    factors: Factors,
    make: Make,
) -> tuple[list[str], IntArray, dict[str, list[str]], list[list[tuple[tuple[int, int], str]]]]:
    """Different sentences in which each factor is balanced and independent of the others, in every split.

    Returns texts, the split of each, each factor's value per text, and a text's marked spans with
    labels. Tasks that ask for different things in the same corpus get the same texts, which are then
    encoded once. Raises InvalidInput where the grammar does not have that many different sentences.
    """
    rng = np.random.default_rng(seed)
    n_dev, n_test = (round(share * sentences) for share in (DEV_SHARE, TEST_SHARE))
    counts = {TRAIN: sentences - n_dev - n_test, DEV: n_dev, TEST: n_test}
    texts: dict[str, None] = {}
    values: dict[str, list[str]] = {name: [] for name in factors}
    marked: list[list[tuple[tuple[int, int], str]]] = []
    for split, count in counts.items():
        side = Side(held_out=split != TRAIN)
        drawn = {name: balanced(rng, labels, count) for name, labels in factors.items()}
        for i in range(count):
            wanted = {name: labels[i] for name, labels in drawn.items()}
            for _ in range(200):
                sentence = make(rng, side, wanted)
                text, spans = written(sentence.words)
                if text not in texts:
                    break
            else:
                raise InvalidInput(
                    f"This task does not have {sentences:,} different sentences. Ask for fewer (2,000 always work)."
                )
            texts[text] = None
            for name, label in wanted.items():
                values[name].append(label)
            marked.append([(spans[place], label) for place, label in sorted(sentence.marked.items())])
    return list(texts), np.repeat(list(counts), list(counts.values())), values, marked


def tagged_sentence(rng: np.random.Generator, side: Side, length: int, animal: str | None) -> list[tuple[str, str]]:
    """A sentence of exactly that many words as (word, tag) pairs: noun phrases that did something somewhere.

    With ``animal``, one of its noun phrases, wherever it stands, is that animal. At least five words.
    """
    # Each part adds a known number of words; single words fill up what the larger parts leave.
    left = length - 3
    phrases = [["subject"]]
    verbs = 1
    while left > 4 or (left >= 3 and rng.random() < 0.7):
        part = int(rng.integers(4))
        if part == 0 and verbs < 3:
            verbs, left = verbs + 1, left - 2
        elif part == 1 and len(phrases) < 3:
            phrases.insert(1, ["and"])
            left -= 3
        else:
            phrases.append(["near"])
            left -= 3
    n_adverbs = min(left, int(rng.integers(2)), verbs)
    left -= n_adverbs
    adjectives = [0] * len(phrases)
    for _ in range(left):
        adjectives[min(range(len(phrases)), key=lambda i: (adjectives[i], rng.random()))] += 1

    nouns = [noun.singular for noun in side.words(PEOPLE) + side.words(THINGS)]
    heads = pick_different(rng, nouns, len(phrases))
    if animal is not None:
        heads[int(rng.integers(len(heads)))] = animal
    unused = set(side.words(ADJECTIVES))
    places = iter(pick_different(rng, side.words(PLACES), len(side.words(PLACES))))

    def noun_phrase(i: int, head: str) -> list[tuple[str, str]]:
        described = pick_adjectives(rng, sorted(unused), adjectives[i])
        unused.difference_update(described)
        return [("the", "DET"), *((word, "ADJ") for word in described), (head, "NOUN")]

    words = noun_phrase(0, heads[0])
    after: list[tuple[str, str]] = []
    for i, (kind,) in enumerate(phrases[1:], start=1):
        if kind == "and":
            words += [("and", "CCONJ"), *noun_phrase(i, heads[i])]
        elif heads[i] == animal or rng.random() < 0.5:
            after += [(pick(rng, PREPOSITIONS), "ADP"), *noun_phrase(i, heads[i])]
        else:
            after += [(pick(rng, ("in", "near", "behind")), "ADP"), *noun_phrase(i, next(places))]
    for i, verb in enumerate(pick_different(rng, side.words(NEUTRAL_PAST), verbs)):
        words += [("and", "CCONJ")] * (i > 0) + [(verb, "VERB")]
    words += [(adverb, "ADV") for adverb in pick_different(rng, side.words(ADVERBS), n_adverbs)]
    return words + after


def labelled_sentences(name: str, factor: str, factors: Factors, make: Make) -> Callable[[int, int], Dataset]:
    """A task's ``build``: a ``corpus`` with an item a text, labelled by its value of a factor."""

    def build(sentences: int, seed: int) -> Dataset:
        texts, split, values, _ = corpus(sentences, seed, factors, make)
        return sentence_dataset(name, texts, split, values[factor])

    return build


def labelled_words(name: str, factors: Factors, make: Make) -> Callable[[int, int], Dataset]:
    """``labelled_sentences`` with an item a marked word."""

    def build(sentences: int, seed: int) -> Dataset:
        texts, split, _, marked = corpus(sentences, seed, factors, make)
        items = [(i, span, label) for i, words in enumerate(marked) for span, label in words]
        return Dataset(
            name=name,
            level="token",
            texts=tuple(texts),
            split=split,
            text_of=np.array([i for i, _, _ in items]),
            labels=tuple(label for _, _, label in items),
            spans=np.array([span for _, span, _ in items]),
        )

    return build
