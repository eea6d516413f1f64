"""Baselines by counting, without a model: the strongest of them is shown beside a model's score.

Where a model is not better, it has not learned what the task asks for, or the task gives itself away. Each is trained
on the training split; every choice is made on the development split. Imports no torch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.probing.classifier import many_labels, one_thread
from model_zoo.types import DoubleArray
from training.finetuning.data import HIGHEST_SCORE, Data, Item, Kind, Labelled, PassageQuestion, Scored, Split, Tagged
from training.finetuning.results import Answered, AnswerSpan, Classified, Prediction, Rated, TaggedWords
from training.finetuning.scores import always_alike, value

MOST_TRAINED_ON = 3000
"""Items: what n-grams learn of more takes long, and says little more."""

_STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # of C, inverse to the penalty on large weights
_SCORED: tuple[Split, Split] = ("dev", "test")
_WORD = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"[A-Z0-9][\w'-]*(?: (?:of |the )?[A-Z0-9][\w'-]*)*")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")


@dataclass(frozen=True, slots=True)
class Baseline:
    """A way to answer without a model, with its name as in "reached by …" and its predictions on the development and
    the test split.
    """

    name: str
    dev: tuple[Prediction, ...] = field(repr=False)
    test: tuple[Prediction, ...] = field(repr=False)


def candidates(data: Data, cosines: Mapping[Split, Sequence[float]] | None = None) -> Iterator[Baseline]:
    """The baselines, one after the other, each as soon as it is trained. ``cosines`` of the two texts' vectors in a
    model that was not tuned make one of them (similarity).
    """
    alike = [always_alike(data, split) for split in _SCORED]
    if alike[0] is not None and alike[1] is not None:
        yield Baseline("majority baseline", tuple(alike[0]), tuple(alike[1]))
    yield from _OF_KIND[data.kind](data.first(MOST_TRAINED_ON, 0))
    if cosines is not None:
        rated = (tuple(Rated(HIGHEST_SCORE * cosine) for cosine in cosines[split]) for split in _SCORED)
        yield Baseline("the cosine of the model’s vectors before tuning", *rated)


def strongest(data: Data, baselines: Sequence[Baseline]) -> Baseline:
    """The best baseline on the development split, of equals the first; the test split would give the luckiest."""
    return max(baselines, key=lambda baseline: value(data.measure, data.dev, baseline.dev))


def _words(text: str | None) -> list[str]:
    return [word.lower() for word in _WORD.findall(text or "")]


def _surface(item: Item) -> list[float]:
    """Lengths of the texts in words and characters, and how much they share."""
    first, second = _words(item.text), _words(item.pair)
    shared = len(set(first) & set(second))
    return [
        len(first),
        len(second),
        len(first) - len(second),
        len(item.text),
        len(item.pair or ""),
        shared,
        shared / max(1, len(set(first))),
        shared / max(1, len(set(second))),
        _word_overlap(item),
    ]


def _word_overlap(item: Item) -> float:
    """The share of words in common (Jaccard)."""
    first, second = set(_words(item.text)), set(_words(item.pair))
    return len(first & second) / max(1, len(first | second))


Features = Callable[[Sequence[Item], bool], Any]
"""A row of numbers for each item, sparse or not; fitted again where told so."""


_CHARACTERS: Mapping[str, Any] = {"analyzer": "char_wb", "ngram_range": (2, 4)}
_WORDS: Mapping[str, Any] = {"ngram_range": (1, 2), "token_pattern": _WORD.pattern}
_NGRAMS = {"n-grams": (_WORDS, _CHARACTERS), "character n-grams": (_CHARACTERS,)}
"""Of one and two words; of two to four characters, within words."""


def _ngrams(kind: str, *sides: str) -> Features:
    """N-grams of the ``sides`` of an item, "text" or "pair", weighed by how rare they are (tf-idf)."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    counters = [(side, TfidfVectorizer(**of, sublinear_tf=True)) for side in sides for of in _NGRAMS[kind]]

    def features(items: Sequence[Item], new: bool) -> Any:
        counted = [
            (counter.fit_transform if new else counter.transform)([getattr(item, side) or "¶" for item in items])
            for side, counter in counters
        ]
        return hstack(counted, format="csr")

    return features


def _numbers() -> Features:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()

    def features(items: Sequence[Item], new: bool) -> DoubleArray:
        rows = np.array([_surface(item) for item in items])
        scaled: DoubleArray = (scaler.fit_transform if new else scaler.transform)(rows)
        return scaled

    return features


def _regressions(rows: Mapping[Split, Any], labels: Sequence[str]) -> Iterator[dict[Split, list[str]]]:
    """What logistic regressions say of the splits that are scored, for each strength of the penalty."""
    from sklearn.linear_model import LogisticRegression

    if len(set(labels)) < 2:
        return
    for strength in _STRENGTHS:
        with many_labels(), one_thread():
            fitted = LogisticRegression(C=strength, max_iter=1000, tol=1e-3).fit(rows["train"], labels)
        yield {split: fitted.predict(rows[split]).tolist() for split in _SCORED}


def _classified(data: Data) -> Iterator[Baseline]:
    sides: dict[str, tuple[str, ...]] = {"": ("text",)}
    if data.train[0].pair is not None:
        sides = {" of the first text": ("text",), " of the second text": ("pair",), " of both texts": ("text", "pair")}
    made = {f"{kind}{of}": _ngrams(kind, *names) for of, names in sides.items() for kind in _NGRAMS}
    made["lengths and words in common" if len(sides) > 1 else "length"] = _numbers()
    labels = [item.label for item in data.train if isinstance(item, Labelled)]
    for name, features in made.items():
        rows = {split: features(data.split(split), split == "train") for split in ("train", *_SCORED)}
        for predicted in _regressions(rows, labels):
            yield Baseline(name, *(tuple(_classify(label, data) for label in predicted[split]) for split in _SCORED))


def _classify(label: str, data: Data) -> Classified:
    return Classified(label, tuple(float(known == label) for known in data.labels))


def _tagged(data: Data) -> Iterator[Baseline]:
    """Word by word, by the word, its neighbours, and how they are written."""
    from sklearn.feature_extraction import DictVectorizer

    counter = DictVectorizer()
    rows: dict[Split, Any] = {}
    for split in ("train", *_SCORED):
        words = [features for item in data.split(split) for features in _around(item)]
        rows[split] = (counter.fit_transform if split == "train" else counter.transform)(words)
    tags = [tag for item in data.train if isinstance(item, Tagged) for tag in item.tags]
    for predicted in _regressions(rows, tags):
        yield Baseline(
            "each word with its neighbours", *(tuple(_tag(predicted[split], data.split(split))) for split in _SCORED)
        )


def _around(item: Item) -> Iterator[dict[str, float]]:
    assert isinstance(item, Tagged)
    framed = ["¶", *item.words, "¶"]
    for place in range(1, len(framed) - 1):
        yield {
            feature: 1.0
            for by in (-1, 0, 1)
            for word in [framed[place + by]]
            for feature in (f"{by} {word.lower()}", f"{by} …{word[-3:].lower()}", f"{by} {_shape(word)}")
        }


def _shape(word: str) -> str:
    if word.isdigit():
        return "number"
    return "capitals" if word.isupper() else "a capital" if word[:1].isupper() else "small"


def _tag(tags: Sequence[str], items: Sequence[Item]) -> Iterator[TaggedWords]:
    start = 0
    for item in items:
        assert isinstance(item, Tagged)
        yield TaggedWords(item.words, tuple(tags[start : start + len(item.words)]), (1.0,) * len(item.words))
        start += len(item.words)


def _answered(data: Data) -> Iterator[Baseline]:
    """The name or number in the sentence that shares most words with the question; none where it shares too few."""
    dev, test = (
        [_nearest(item) for item in data.split(split) if isinstance(item, PassageQuestion)] for split in _SCORED
    )
    shares = sorted({share for share, _ in dev})
    for least in [0.0, *(sum(two) / 2 for two in pairwise(shares))]:
        of_parts = (tuple(_answer(*neighbor, least) for neighbor in nearest) for nearest in (dev, test))
        yield Baseline("the name or number in the sentence with most words of the question", *of_parts)


def _answer(share: float, answer: tuple[int, str], least: float) -> Answered:
    start, text = answer
    if share < least or not text:
        return Answered((), 0.0)
    return Answered((AnswerSpan(start, start + len(text), text, share),), 0.0)


def _nearest(item: PassageQuestion) -> tuple[float, tuple[int, str]]:
    """The share of the question's words in the sentence that has most of them, and the first name or number there that
    the question does not have (first character and text; ("", 0) without one).
    """
    question_words = set(_words(item.text))
    best, nearest = 0.0, (0, "")
    for sentence in _SENTENCE.finditer(item.pair):
        share = len(question_words & set(_words(sentence[0]))) / max(1, len(question_words))
        names = [name for name in _NAME.finditer(sentence[0]) if not set(_words(name[0])) & question_words]
        within = [name for name in names if sentence[0][: name.start()].strip()]
        names = within or names  # any word has a capital where a sentence begins
        if names and share > best:
            best, nearest = share, (sentence.start() + names[0].start(), names[0][0])
    return best, nearest


def _rated(data: Data) -> Iterator[Baseline]:
    from sklearn.linear_model import Ridge

    shared = (tuple(Rated(HIGHEST_SCORE * _word_overlap(item)) for item in data.split(split)) for split in _SCORED)
    yield Baseline("the share of words in common", *shared)
    features = _numbers()
    fitted = Ridge().fit(features(data.train, True), [item.score for item in data.train if isinstance(item, Scored)])
    ratings = (tuple(map(Rated, fitted.predict(features(data.split(split), False)).tolist())) for split in _SCORED)
    yield Baseline("lengths and words in common", *ratings)


_OF_KIND: Mapping[Kind, Callable[[Data], Iterator[Baseline]]] = {
    "classification": _classified,
    "tagging": _tagged,
    "answering": _answered,
    "similarity": _rated,
}
