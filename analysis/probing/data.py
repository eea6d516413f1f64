"""What a probe is trained and judged on: texts, the items in them, their labels and their split.

An item is a whole text (sentence level) or a span of characters in it (token level). A ``Task`` makes such a
``Dataset``; the built-in ones lie in ``tasks/``, the user's own come from ``readers``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from model_zoo.errors import InvalidInput

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Level = Literal["sentence", "token"]

MIN_SENTENCES = 20
MAX_CLASSES = 1000
TEST_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Labelled items in different texts; parallel arrays with one entry an item unless said otherwise.

    ``texts`` (one a text) are pairwise different, ``in_test`` (one a text) is the split: an item goes where
    its text goes. ``spans`` (items, 2) are characters [start, end) of the judged word, None at sentence
    level. ``notes`` say in words what was left out while the data was read.
    """

    name: str
    level: Level
    texts: tuple[str, ...]
    in_test: BoolArray
    text_of: IntArray
    labels: tuple[str, ...]
    spans: IntArray | None = None
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.text_of) or len(self.texts) != len(self.in_test):
            raise ValueError("a Dataset needs one label an item and one split mark a text")
        if (self.level == "token") != (self.spans is not None):
            raise ValueError("token level needs spans, sentence level has none")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def item_in_test(self) -> BoolArray:
        """The split, one mark an item."""
        return self.in_test[self.text_of]

    def word(self, item: int) -> str | None:
        """The judged word as it is written, None at sentence level."""
        if self.spans is None:
            return None
        start, end = self.spans[item]
        return self.texts[self.text_of[item]][start:end]

    def select(self, keep_text: BoolArray, keep_item: BoolArray | None = None) -> Dataset:
        """Only the marked texts, and of their items only the marked ones; texts without items are dropped."""
        kept = keep_text[self.text_of] if keep_item is None else keep_text[self.text_of] & keep_item
        used = np.unique(self.text_of[kept])
        place = np.full(len(self.texts), -1, dtype=np.int64)
        place[used] = np.arange(len(used))
        return replace(
            self,
            texts=tuple(self.texts[i] for i in used),
            in_test=self.in_test[used],
            text_of=place[self.text_of[kept]],
            labels=tuple(self.labels[i] for i in np.flatnonzero(kept)),
            spans=None if self.spans is None else self.spans[kept],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A built-in question to the layers. ``build(sentences, seed)`` makes its data, gold by construction.

    ``kind`` is the sort of knowledge asked for. ``shared_words`` are the words beside function words that
    training and test sentences have in common; all other words occur on one side only.
    """

    name: str
    title: str
    level: Level
    kind: Literal["surface", "syntax", "meaning"]
    question: str
    build: Callable[[int, int], Dataset]
    shared_words: frozenset[str] = frozenset()


def checked(dataset: Dataset) -> Dataset:
    """The dataset if it can be probed, without labels that occur once only.

    Raises InvalidInput for fewer than two labels, too few texts, too many labels, or an empty side of the
    split.
    """
    if len(dataset.texts) < MIN_SENTENCES:
        raise InvalidInput(
            f"{dataset.name} has {len(dataset.texts)} different sentences; a probe needs at least "
            f"{MIN_SENTENCES} to be trained and judged. Add more."
        )
    counts = Counter(dataset.labels)
    if len(counts) > MAX_CLASSES:
        raise InvalidInput(
            f"{dataset.name} has {len(counts):,} different labels; at most {MAX_CLASSES:,} can be told "
            f"apart. "
            "If the labels are numbers, put them into a few bins first."
        )
    single = sorted(label for label, count in counts.items() if count == 1)
    if single and len(counts) - len(single) >= 2:
        named = ", ".join(repr(label) for label in single[:5]) + (" …" if len(single) > 5 else "")
        keep = np.array([counts[label] > 1 for label in dataset.labels])
        note = (
            f"Left out {len(single)} label(s) with one example only, which cannot be both learned and tested: {named}."
        )
        dataset = dataset.select(np.ones(len(dataset.texts), dtype=bool), keep)
        dataset = replace(dataset, notes=(*dataset.notes, note))
        counts = Counter(dataset.labels)
    if len(counts) - sum(count == 1 for count in counts.values()) < 2:
        raise InvalidInput(
            f"{dataset.name} has fewer than two labels with two examples each "
            f"(found: {', '.join(f'{label!r} × {n}' for label, n in counts.most_common(5))}). "
            "A probe needs at least two kinds of examples."
        )
    test = dataset.item_in_test
    if test.all() or not test.any():
        raise InvalidInput(f"{dataset.name} has no {'training' if test.all() else 'test'} examples. Give both.")
    if len({label for label, held_out in zip(dataset.labels, test, strict=True) if not held_out}) < 2:
        raise InvalidInput(
            f"{dataset.name} has one label only among its training examples. Mix the labels over the split."
        )
    return dataset


def random_split(label_of_text: Sequence[str], seed: int) -> BoolArray:
    """True for the texts of the test part: a share of TEST_SHARE of each label's texts, at random.

    A label with two texts or more is on both sides.
    """
    rng = np.random.default_rng(seed)
    labels = np.asarray(label_of_text, dtype=object)
    in_test = np.zeros(len(labels), dtype=bool)
    for label in sorted(set(label_of_text)):
        members = rng.permutation(np.flatnonzero(labels == label))
        n_test = round(TEST_SHARE * len(members))
        if len(members) >= 2:
            n_test = min(max(n_test, 1), len(members) - 1)
        in_test[members[:n_test]] = True
    return in_test


def sample(dataset: Dataset, sentences: int, seed: int) -> Dataset:
    """At most ``sentences`` of the texts, drawn at random with both sides of the split in proportion."""
    total = len(dataset.texts)
    if total <= sentences:
        return dataset
    rng = np.random.default_rng(seed)
    keep = np.zeros(total, dtype=bool)
    test_share = dataset.in_test.mean()
    n_test = round(sentences * test_share)
    keep[rng.permutation(np.flatnonzero(dataset.in_test))[:n_test]] = True
    keep[rng.permutation(np.flatnonzero(~dataset.in_test))[: sentences - n_test]] = True
    return dataset.select(keep)
