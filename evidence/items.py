"""What heads that are off are tried on: hidden words, minimal pairs and labelled texts, one by one and as a
``Material`` with what belongs together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from analysis.corpus.sentences import Corpus, alike, is_judged
from analysis.minimal_pairs import MinimalPair
from model_zoo import text as texts
from model_zoo.errors import InvalidInput

Head = tuple[int, int]

LeftOut = Literal["cut", "shared", "unknown", "mask"]
"""Why an item cannot be scored: its word lies beyond the model's limit, shares a token with the word beside it, or is
not in the model's vocabulary; or a mask is in the text already.
"""

MOST_ITEMS: Final = 1000
"""Items in one question."""
MOST_DRAWN: Final = 400
"""Items of which effects are measured; of more, so many are drawn at random."""
MOST_PAIRS: Final = 200
"""The same of pairs, many of which take as many runs as they have tokens."""
_SEED: Final = 35

Kind = Literal["words", "pairs", "labels"]


@dataclass(frozen=True, slots=True)
class HiddenWord:
    """A text of which the word at the characters ``span`` is hidden, all of its pieces at once. Its score is ln P of
    the word: the sum over its pieces.
    """

    text: str
    span: tuple[int, int]

    @property
    def texts(self) -> tuple[tuple[str, str | None], ...]:
        return ((self.text, None),)


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A right sentence and a wrong one. The score is ln P of the right one less that of the wrong one.

    Where they have as many tokens and differ in one word, that word is hidden and its two fillings are compared;
    otherwise the pseudo-log-likelihoods of both (scheme "word l2r" of ``ScoreTokens``).
    """

    good: str
    bad: str

    @property
    def texts(self) -> tuple[tuple[str, str | None], ...]:
        return (self.good, None), (self.bad, None)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, or a pair of texts, for a classifier. The score is ln P of its ``label``."""

    text: str
    pair: str | None
    label: str

    @property
    def texts(self) -> tuple[tuple[str, str | None], ...]:
        return ((self.text, self.pair),)


Item = HiddenWord | SentencePair | LabelledText


def check_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Raises InvalidInput for items that are none, too many, of several kinds, or without text."""
    if not items:
        raise InvalidInput("There is nothing to score. Give at least one sentence.")
    if len(items) > MOST_ITEMS:
        raise InvalidInput(f"{len(items):,} items are more than {MOST_ITEMS:,}. Ask for fewer at a time.")
    if len({type(item) for item in items}) > 1:
        raise InvalidInput("Hidden words, pairs of sentences and labelled texts have scores of different kinds.")
    for number, item in enumerate(items, start=1):
        for text, pair in item.texts:
            texts.check_pair(text, pair, f"Text {number}")
        if isinstance(item, HiddenWord):
            start, end = item.span
            if not 0 <= start < end <= len(item.text) or not item.text[start:end].strip():
                raise InvalidInput(f"Text {number} has no word at the characters {start} to {end}. Give its place.")
    return tuple(items)


def check_masked_texts(sentences: Sequence[str], most: int) -> tuple[str, ...]:
    """Raises InvalidInput for texts that are none, too many or empty, and for no mask in each."""
    if not sentences or most < 1:
        raise InvalidInput("There is nothing to mask. Give at least one sentence, and one mask in each.")
    if len(sentences) > MOST_ITEMS:
        raise InvalidInput(f"{len(sentences):,} sentences are more than {MOST_ITEMS:,}. Ask for fewer at a time.")
    for number, text in enumerate(sentences, start=1):
        texts.check(text, f"Sentence {number}")
    return tuple(sentences)


@dataclass(frozen=True)
class Material:
    """Items of one kind; ``clusters`` say which belong together (the words of a sentence, of a document or of all
    sentences that templates made from one frame; the pairs of a template), and ``judged`` of which half each is: heads
    are ordered on one half and judged on the other.

    ``name`` tells it from other material. ``chance`` is the share of right items without a model, None where there is
    no such number. ``n_all`` counts the items there were before some were drawn.
    """

    kind: Kind
    name: str
    items: tuple[Item, ...] = field(repr=False)
    clusters: tuple[int, ...] = field(repr=False)
    judged: tuple[bool, ...] = field(repr=False)
    n_all: int
    chance: float | None = None

    def __len__(self) -> int:
        return len(self.items)

    @property
    def tried(self) -> tuple[int, ...]:
        """The places of the items in which a head is switched off: all; of labelled texts those that judge, since the
        others chose the model.
        """
        return tuple(place for place, judged in enumerate(self.judged) if judged or self.kind != "labels")

    def sample(self, most: int) -> Material:
        """The same with so many of its items at most, drawn at random."""
        kept = _drawn(len(self), most)
        clusters = tuple(self.clusters[place] for place in kept)
        judged = tuple(self.judged[place] for place in kept)
        return replace(self, items=self.some(kept), clusters=clusters, judged=judged)

    def half(self, judged: bool, most: int) -> tuple[int, ...]:
        """The places of the items of a half, ``most`` of them at most, drawn at random."""
        places = [place for place, mine in enumerate(self.judged) if mine == judged]
        return tuple(places[place] for place in _drawn(len(places), most))

    def some(self, places: Iterable[int]) -> tuple[Item, ...]:
        return tuple(self.items[place] for place in places)


def _drawn(n: int, most: int = MOST_DRAWN) -> list[int]:
    """Which of so many items are taken, in their order."""
    if n <= most:
        return list(range(n))
    return sorted(np.random.default_rng(_SEED).choice(n, most, replace=False).tolist())


def word_material(corpus: Corpus, numbers: npt.ArrayLike, places: npt.ArrayLike, name: str) -> Material:
    """Words, each hidden once however often it is named: the numbers of their sentences, and their places in these."""
    longest = 1 + int(np.max(places, initial=0))
    codes = np.unique(np.asarray(numbers, dtype=np.int64) * longest + np.asarray(places, dtype=np.int64))
    taken = [divmod(int(codes[place]), longest) for place in _drawn(len(codes))]
    sentences = corpus.take(number for number, _ in taken)
    spans = (sentence.spans[place] for sentence, (_, place) in zip(sentences, taken, strict=True))
    clusters = tuple(sentence.unit for sentence in sentences)
    return Material(
        kind="words",
        name=name,
        items=tuple(HiddenWord(sentence.text, span) for sentence, span in zip(sentences, spans, strict=True)),
        clusters=clusters,
        judged=tuple(is_judged(clusters).tolist()),
        n_all=len(codes),
    )


def pair_material(pairs: Sequence[MinimalPair], name: str, *, templates: bool = False) -> Material:
    """Minimal pairs, each by itself; with ``templates`` those of one paradigm belong together and to one half."""
    taken = [pairs[place] for place in _drawn(len(pairs), MOST_PAIRS)]
    together = [pair.paradigm if templates else alike(pair.good) for pair in taken]
    number = {cluster: place for place, cluster in enumerate(dict.fromkeys(together))}
    clusters = tuple(number[cluster] for cluster in together)
    return Material(
        kind="pairs",
        name=name,
        items=tuple(SentencePair(pair.good, pair.bad) for pair in taken),
        clusters=clusters,
        judged=tuple(is_judged(clusters).tolist()),
        n_all=len(pairs),
        chance=0.5,
    )


def label_material(
    choosing: Sequence[tuple[LabelledText, str]], judging: Sequence[tuple[LabelledText, str]], name: str
) -> Material:
    """Texts to order heads by and texts to judge by, each with the name of its cluster ("" for none). Chance is how
    often the commonest label of the first is right in the second; ``n_all`` counts the second.
    """
    taken = [
        (*items[place], judged)
        for items, judged in ((choosing, False), (judging, True))
        for place in _drawn(len(items), MOST_DRAWN if judged else MOST_PAIRS)
    ]
    together = [cluster or f"{place} by itself" for place, (_, cluster, _) in enumerate(taken)]
    number = {label: place for place, label in enumerate(dict.fromkeys(together))}
    ((majority, _),) = Counter(item.label for item, _ in choosing or judging).most_common(1)
    return Material(
        kind="labels",
        name=name,
        items=tuple(item for item, _, _ in taken),
        clusters=tuple(number[label] for label in together),
        judged=tuple(judged for _, _, judged in taken),
        n_all=len(judging),
        chance=sum(item.label == majority for item, _ in judging) / max(1, len(judging)),
    )
