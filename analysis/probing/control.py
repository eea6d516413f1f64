"""Control tasks (Hewitt & Liang 2019): what a probe reaches where there is nothing to learn but words.

A control task gives each word type a label at random, drawn from the real labels' frequencies. Selectivity is
the accuracy on the real task minus the accuracy on the control task: a probe that does well on both has shown
that it can memorize, not that the layer knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from analysis.probing.data import Dataset
from model_zoo.types import IntArray

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ControlTask:
    """Labels (one per item) that depend on the word type alone, and the split of each item."""

    labels: IntArray = field(repr=False)
    split: IntArray = field(repr=False)


def control_word(dataset: Dataset, item: int) -> str:
    """The word type that an item's control label depends on: the labelled word; in a whole text its longest word.

    Lower case; the first if several are longest.
    """
    word = dataset.word(item)
    if word is None:
        text = dataset.texts[dataset.text_of[item]]
        word = max(_WORD.findall(text), key=len, default=text)
    return word.lower()


def control_task(dataset: Dataset, labels: IntArray, seed: int) -> ControlTask:
    """The control task of a data set whose labels are these numbers.

    Its split is random by text, as large as the real one: where training and held-out sentences have different words, a
    word of the test split would have no control label to be learned, and every probe would seem selective.
    """
    rng = np.random.default_rng(seed)
    words = [control_word(dataset, i) for i in range(len(dataset))]
    types = {word: i for i, word in enumerate(sorted(set(words)))}
    frequencies = np.bincount(labels) / len(labels)
    label_of_type = rng.choice(len(frequencies), size=len(types), p=frequencies)
    split = rng.permutation(dataset.split)
    return ControlTask(
        labels=label_of_type[np.array([types[word] for word in words])].astype(np.int64),
        split=split[dataset.text_of],
    )
