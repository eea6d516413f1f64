"""What a model is tuned on: the items of a task in three splits, and the built-in sets of them. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, get_args

import numpy as np
from propcache.api import cached_property

from model_zoo.errors import InvalidInput
from reading.data import Split as Split
from reading.items import Labelled as Labelled
from reading.items import PassageQuestion as PassageQuestion
from reading.items import Scored as Scored
from reading.items import Tagged as Tagged

T = TypeVar("T")

Kind = Literal["classification", "tagging", "answering", "similarity"]
KINDS: tuple[Kind, ...] = get_args(Kind)

SPLITS: tuple[Split, ...] = get_args(Split)
"""The training, the development and the test split."""

USES: Mapping[Split, str] = {"train": "train on", "dev": "choose by", "test": "test on"}

OUTSIDE = "O"
"""The tag of a word that is in no entity. The others are B-TYPE where an entity begins and I-TYPE inside (IOB2)."""

HIGHEST_SCORE = 5.0
"""Of two texts that mean the same; of two that have nothing in common it is 0 (STS, Agirre et al. 2012)."""


Item = Labelled | Tagged | PassageQuestion | Scored
"""Tags of ``Tagged`` are in IOB2 here, scores of ``Scored`` from 0 to ``HIGHEST_SCORE``."""


def cast_all(kind: type[T], things: Sequence[object]) -> list[T]:
    """The same things, which are all of this kind. Raises TypeError where one is not."""
    cast = [item for item in things if isinstance(item, kind)]
    if len(cast) != len(things):
        raise TypeError(f"not all are {kind.__name__}")
    return cast


@dataclass(frozen=True)
class Data:
    """Items of one kind in three splits: trained on, chosen by, and held out for the scores that are shown.

    ``name`` tells it from other data: a built-in set's name, or a fingerprint of the visitor's own. ``labels`` are
    those of classification, or the tags of tagging, in the order of the network's outputs; empty for other kinds.
    ``measure`` is the score that is shown while it trains: see ``scores.MEASURES``. ``notes`` say in sentences what
    was left out or changed while the data was read.
    """

    name: str
    title: str
    kind: Kind
    train: tuple[Item, ...] = field(repr=False)
    dev: tuple[Item, ...] = field(repr=False)
    test: tuple[Item, ...] = field(repr=False)
    labels: tuple[str, ...] = ()
    measure: str = "accuracy"
    notes: tuple[str, ...] = field(default=(), repr=False)

    def split(self, split: Split) -> tuple[Item, ...]:
        items: tuple[Item, ...] = getattr(self, split)
        return items

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.kind, self.labels, self.train, self.dev, self.test))

    def __hash__(self) -> int:
        return self._hash

    def first(self, examples: int | None, seed: int) -> Data:
        """The same data with so many training items only, drawn by the seed; a smaller number takes the first of them,
        so that a smaller part is always contained in a larger one. The data is unchanged where there are no more items.

        Labels take turns, so that a few items hold as many of each label as possible.
        """
        if examples is None or examples >= len(self.train):
            return self
        order = np.random.default_rng(seed).permutation(len(self.train))
        turns: dict[str, int] = {}
        places: list[tuple[int, int, int]] = []
        for place in order:
            item = self.train[int(place)]
            label = item.label if isinstance(item, Labelled) else ""
            turns[label] = turns.get(label, 0) + 1
            places.append((turns[label], len(places), int(place)))
        kept = [place for _, _, place in sorted(places)[:examples]]
        return replace(self, train=tuple(self.train[place] for place in kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """A set written for this project: two files in ``training/finetuning/sets``.

    ``question`` is what the model is to answer, in a short sentence. ``card`` says in Markdown what it is made of, how
    its splits are kept apart, how balanced it is and what it cannot show. ``items`` reads those of one split, those of
    one template with one ``cluster``; ``labels`` and ``measure`` are those of ``Data``. ``tries``
    are (text, second text or None) to try a tuned model with; none of them is in the set.
    """

    name: str
    title: str
    kind: Kind
    question: str
    card: str
    items: Callable[[Split], tuple[Item, ...]]
    labels: tuple[str, ...] = ()
    measure: str = "accuracy"
    tries: tuple[tuple[str, str | None], ...]

    def build(self) -> Data:
        """The set as data to train on."""
        train, dev, test = map(self.items, SPLITS)
        return Data(self.name, self.title, self.kind, train, dev, test, self.labels, self.measure)


def check(data: Data) -> Data:
    """The data itself. Raises InvalidInput, with what to do, for data that nothing can be learned from."""
    for split in SPLITS:
        if not data.split(split):
            raise InvalidInput(f"{data.title} has no items to {USES[split]}. Bring more of them.")
    if data.kind == "classification" and len(data.labels) < 2:
        only = f" (“{data.labels[0]}”)" if data.labels else ""
        raise InvalidInput(f"{data.title} has one label only{only}. Bring items of at least two labels.")
    if data.kind == "tagging" and not set(data.labels) - {OUTSIDE}:
        raise InvalidInput(f"In {data.title} no word is in an entity. Bring sentences with tags such as B-PERSON.")
    return data
