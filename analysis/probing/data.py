"""What a probe is trained and evaluated on: texts, the items in them, their labels and their split.

An item is a whole text (sentence level) or a span of characters in it (token level). A ``Task`` makes such a
``Dataset``; the built-in ones are in ``tasks/``, the user's own come from ``readers``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from analysis.corpus.sentences import alike
from model_zoo.errors import InvalidInput
from model_zoo.types import BoolArray, IntArray, counted

Level = Literal["sentence", "token"]

# What a text is for: probes are trained on the first split; layers and the strength of regularization are chosen on the
# second; every accuracy that is shown is the third's.
TRAIN, DEV, TEST = 0, 1, 2
DEV_SHARE, TEST_SHARE = 0.1, 0.3

MIN_SENTENCES = 20
MAX_CLASSES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Labelled items in different texts; parallel arrays with one entry per item unless said otherwise.

    ``texts`` are pairwise different, ``split`` (one entry per text) is TRAIN, DEV or TEST: an item goes where its text
    goes. ``own_split`` tells that the split came with the data, so that no other may be drawn. ``spans`` (items, 2) are
    characters [start, end) of the labelled word, None at sentence level. ``notes`` say in words what was left out while
    the data was read.
    """

    name: str
    level: Level
    texts: tuple[str, ...] = field(repr=False)
    split: IntArray = field(repr=False)
    text_of: IntArray = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    spans: IntArray | None = field(default=None, repr=False)
    own_split: bool = False
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.text_of) or len(self.texts) != len(self.split):
            raise ValueError("a Dataset needs one label per item and one split mark per text")
        if (self.level == "token") != (self.spans is not None):
            raise ValueError("token level needs spans, sentence level has none")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def item_split(self) -> IntArray:
        """The split of each item's text."""
        return self.split[self.text_of]

    def word(self, item: int) -> str | None:
        """The labelled word as it is written, None at sentence level."""
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
            split=self.split[used],
            text_of=place[self.text_of[kept]],
            labels=tuple(self.labels[i] for i in np.flatnonzero(kept)),
            spans=None if self.spans is None else self.spans[kept],
        )


def sentence_dataset(
    name: str,
    texts: Sequence[str],
    split: IntArray,
    labels: Sequence[str],
    *,
    own_split: bool = False,
    notes: tuple[str, ...] = (),
) -> Dataset:
    """A data set with an item a text."""
    return Dataset(
        name=name,
        level="sentence",
        texts=tuple(texts),
        split=split,
        text_of=np.arange(len(texts)),
        labels=tuple(labels),
        own_split=own_split,
        notes=notes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A built-in question about the layers. ``build(sentences, seed)`` makes its data, gold by construction.

    ``kind`` is the sort of knowledge asked for. ``shared_words`` are the words beside function words that
    training and held-out sentences have in common; all other words occur on one side only.
    """

    name: str
    title: str
    level: Level
    kind: Literal["surface", "syntax", "meaning"]
    question: str
    build: Callable[[int, int], Dataset]
    shared_words: frozenset[str] = frozenset()


def check_labels(name: str, different: int) -> None:
    """Raises InvalidInput where there are more different labels than a probe can tell apart."""
    if different > MAX_CLASSES:
        raise InvalidInput(
            f"{name} has {different:,} different labels; at most {MAX_CLASSES:,} can be told apart. "
            "If the labels are numbers, put them into a few bins first."
        )


def checked(dataset: Dataset) -> Dataset:
    """The dataset if it can be probed, without labels that occur only once.

    Raises InvalidInput for fewer than two labels, too few texts, too many labels, or an empty split.
    """
    if len(dataset.texts) < MIN_SENTENCES:
        raise InvalidInput(
            f"{dataset.name} has {len(dataset.texts)} different sentences; "
            f"a probe needs at least {MIN_SENTENCES} to be trained and tested. Add more."
        )
    counts = Counter(dataset.labels)
    check_labels(dataset.name, len(counts))
    single = sorted(label for label, count in counts.items() if count == 1)
    if single and len(counts) - len(single) >= 2:
        named = ", ".join(repr(label) for label in single[:5]) + (" …" if len(single) > 5 else "")
        keep = np.array([counts[label] > 1 for label in dataset.labels])
        note = (
            f"Left out {counted(len(single), 'label')} with only one example, which cannot be both learned and tested: "
            f"{named}."
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
    split = dataset.item_split
    for needed, named in ((TRAIN, "training"), (DEV, "development"), (TEST, "test")):
        if not (split == needed).any():
            raise InvalidInput(f"{dataset.name} has no {named} examples. Give some to every split.")
    if len({label for label, of in zip(dataset.labels, split, strict=True) if of == TRAIN}) < 2:
        raise InvalidInput(
            f"{dataset.name} has only one label among its training examples. Mix the labels across the split."
        )
    return dataset


def random_split(
    texts: Sequence[str], labels: Sequence[str], seed: int, *, dev: float = DEV_SHARE, test: float = TEST_SHARE
) -> IntArray:
    """The split of each text (each with a label): a share of ``test`` of each label's texts for test and of ``dev`` for
    development.

    Texts that are alike but for case and spaces go together, with the first one's label: an uncased model reads them as
    the same. A label with two such groups or more is in training and in test, and one of ten or more in development;
    without such a label, some training texts are taken for it, whatever their labels.
    """
    rng = np.random.default_rng(seed)
    group_of = {alike(text): i for i, text in reversed(list(enumerate(texts)))}  # the first of each
    first = np.array(sorted(group_of.values()), dtype=np.int64)
    label_of = np.array([labels[i] for i in first], dtype=object)
    split = np.full(len(texts), TRAIN, dtype=np.int64)
    for label in sorted(set(label_of)):
        members = rng.permutation(first[label_of == label])
        n_test = round(test * len(members))
        if len(members) >= 2:
            n_test = min(max(n_test, 1), len(members) - 1)
        split[members[:n_test]] = TEST
        split[members[n_test : n_test + int(dev * len(members))]] = DEV
    split = split[[group_of[alike(text)] for text in texts]]
    return split if (split == DEV).any() else with_split(texts, split, DEV, dev / (1 - test), rng)


def with_split(texts: Sequence[str], split: IntArray, wanted: int, share: float, rng: np.random.Generator) -> IntArray:
    """The splits with the ``wanted`` one, DEV or TEST, drawn from training texts; similar texts stay together."""
    keys = np.array([alike(text) for text in texts], dtype=object)
    train = rng.permutation(sorted(set(keys[split == TRAIN])))
    taken = set(train[: max(1, round(share * len(train)))])
    return np.where((split == TRAIN) & [key in taken for key in keys], wanted, split)


def resplit(dataset: Dataset, seed: int) -> Dataset:
    """The data split anew by the seed, sentences in proportion to the labels; its own split stays as it is."""
    if dataset.own_split:
        return dataset
    accuracy_by_text = dataset.labels if dataset.level == "sentence" else ("all",) * len(dataset.texts)
    return replace(dataset, split=random_split(dataset.texts, accuracy_by_text, seed))


def sample(dataset: Dataset, sentences: int, seed: int) -> Dataset:
    """At most ``sentences`` of the texts, drawn at random with the splits in proportion."""
    total = len(dataset.texts)
    if total <= sentences:
        return dataset
    rng = np.random.default_rng(seed)
    keep = np.zeros(total, dtype=bool)
    for split in (TRAIN, DEV, TEST):
        members = rng.permutation(np.flatnonzero(dataset.split == split))
        keep[members[: max(1, round(sentences * len(members) / total))]] = True
    return dataset.select(keep)
