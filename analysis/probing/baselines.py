"""What can be reached without a model: classifiers that see words, pairs of words or a position, but no vector.

Where a probe is no better than these, it may have found nothing that the text does not show openly. They are trained
and evaluated on the same items as the probes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.probing.classifier import MAX_ITERATIONS, STRENGTHS, many_labels
from analysis.probing.data import DEV, TEST, TRAIN, Dataset
from model_zoo.types import BoolArray, IntArray

Features = dict[str, float]

_WORD = re.compile(r"\w+|[^\w\s]")
_EDGE = "¶"  # stands before the first word and after the last


@dataclass(frozen=True, slots=True)
class Baseline:
    """Accuracy on the test items, with its 95 % interval over texts, of what a model's layers have to beat. ``p`` is
    that of an accuracy equal to the best layer's (``paired_p``).
    """

    name: str
    accuracy: float
    low: float
    high: float
    p: float


def bag_of_words(dataset: Dataset) -> list[Features]:
    """How often each word and mark is in an item's text, lower case."""
    return [_counted(words) for words, _ in _words(dataset)]


def word_bigrams(dataset: Dataset) -> list[Features]:
    """The words of an item's text and its pairs of neighbours; for a labelled word only those that it is part of: the
    word, the one before it, the one after it, and both pairs.
    """
    bigrams = []
    for words, place in _words(dataset):
        framed = [_EDGE, *words, _EDGE]
        if place is None:
            bigrams.append(_counted([*words, *(f"{a} {b}" for a, b in pairwise(framed))]))
        else:
            before, word, after = framed[place : place + 3]
            bigrams.append(_counted([word, f"{before} …", f"… {after}", f"{before} {word} …", f"… {word} {after}"]))
    return bigrams


def position(dataset: Dataset) -> list[Features]:
    """The position of a labelled word, counted in words from the start and from the end."""
    return [
        _counted([f"from the start {place}", f"from the end {len(words) - place}"])
        for words, place in _words(dataset)
        if place is not None
    ]


# By the name that the screen and the table use, for whole texts and for words.
JUDGES: dict[str, Callable[[Dataset], list[Features]]] = {
    "bag of words": bag_of_words,
    "word bigrams": word_bigrams,
    "position": position,
}


def baseline_answers(dataset: Dataset, labels: IntArray) -> dict[str, BoolArray]:
    """Which test items each classifier without vectors gets right, by its name. The majority first, then "word only"
    where a labelled word of the test split occurs in training at all (elsewhere it would be the majority by
    construction), then those of ``JUDGES`` that exist at this level.

    ``labels`` are numbers, one per item. The classifiers are logistic regressions, whose C is chosen on the
    development split.
    """
    split = dataset.item_split
    train, test = labels[split == TRAIN], labels[split == TEST]
    correct = {"majority": np.bincount(train).argmax() == test}
    by_word = _by_word(dataset, labels)
    if by_word is not None:
        correct["word only"] = by_word == test
    for name, features in JUDGES.items():
        if name != "position" or dataset.level == "token":
            correct[name] = _regression(features(dataset), labels, split) == test
    return correct


def _words(dataset: Dataset) -> list[tuple[list[str], int | None]]:
    """Each item's text in words, lower case, and the place of the labelled one (None at sentence level)."""
    cut = [list(_WORD.finditer(text)) for text in dataset.texts]
    words = [[match[0].lower() for match in matches] for matches in cut]
    if dataset.spans is None:
        return [(words[i], None) for i in dataset.text_of]
    starts = [np.array([match.start() for match in matches]) for matches in cut]
    # The last word that begins at the span's start or before it.
    return [
        (words[i], max(int(np.searchsorted(starts[i], start, side="right")) - 1, 0))
        for i, (start, _) in zip(dataset.text_of, dataset.spans, strict=True)
    ]


def _counted(features: Sequence[str]) -> Features:
    counts: Features = {}
    for feature in features:
        counts[feature] = counts.get(feature, 0.0) + 1.0
    return counts


def _by_word(dataset: Dataset, labels: IntArray) -> IntArray | None:
    """The label that each test item's word has most often in training, the most frequent one of all for a new word;
    None at sentence level, or where all are new.
    """
    if dataset.level == "sentence":
        return None
    split = dataset.item_split
    words = np.array([(dataset.word(i) or "").lower() for i in range(len(dataset))], dtype=object)
    overall = int(np.bincount(labels[split == TRAIN]).argmax())
    by_word: dict[str, list[int]] = {}
    for word, label in zip(words[split == TRAIN], labels[split == TRAIN], strict=True):
        by_word.setdefault(word, []).append(int(label))
    if not any(word in by_word for word in words[split == TEST]):
        return None
    best = {word: int(np.bincount(seen).argmax()) for word, seen in by_word.items()}
    return np.array([best.get(word, overall) for word in words[split == TEST]], dtype=np.int64)


def _regression(features: list[Features], labels: IntArray, split: IntArray) -> IntArray:
    """What a logistic regression on these features, one dictionary per item, predicts for the test items."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    rows = {of: np.flatnonzero(split == of) for of in (TRAIN, DEV, TEST)}
    vectorizer = DictVectorizer()
    train = vectorizer.fit_transform([features[i] for i in rows[TRAIN]])
    dev, test = (vectorizer.transform([features[i] for i in rows[of]]) for of in (DEV, TEST))
    # Counts are not standardized, so weights may be larger than a probe's.
    with many_labels():
        fitted = [
            LogisticRegression(C=10 * strength, max_iter=MAX_ITERATIONS).fit(train, labels[rows[TRAIN]])
            for strength in STRENGTHS
        ]
    best = max(fitted, key=lambda model: model.score(dev, labels[rows[DEV]]))
    predicted: IntArray = best.predict(test)
    return predicted
