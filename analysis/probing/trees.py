"""Dependency trees over the words of sentences: what the structural probe is trained and evaluated on.

A ``Tree`` is one sentence's; a ``Treebank`` has many, with the words and the split of a ``Dataset``.
``readers.treebank`` makes one of what was read of a CoNLL-U file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from propcache.api import cached_property

from analysis.probing.data import DEV, MIN_SENTENCES, TEST, TRAIN, Dataset, resplit, sample
from model_zoo.errors import InvalidInput
from model_zoo.types import BoolArray, DoubleArray, IntArray

# With two words there is one tree, and every probe finds it.
FEWEST_WORDS = 3


@dataclass(frozen=True)
class Tree:
    """The dependency tree of a sentence of m words, n of which have characters of their own in the text.

    ``heads`` (m,) is the place of each word's head, from 0, and -1 for the root. ``written`` (n,) are the places of the
    words with characters, in order; the others (inside a multiword token) only pass distances on. ``punctuation`` (n,)
    marks those of ``written`` that count for distances and not for the edges of the tree.
    """

    heads: IntArray = field(repr=False)
    written: IntArray = field(repr=False)
    punctuation: BoolArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.written)

    @cached_property
    def distances(self) -> IntArray:
        """Edges on the way between each pair of written words, (n, n)."""
        return tree_distances(self.heads)[np.ix_(self.written, self.written)]

    @cached_property
    def depths(self) -> IntArray:
        """Edges on the way from the root to each written word, (n,)."""
        return tree_depths(self.heads)[self.written]

    @cached_property
    def edges(self) -> IntArray:
        """The edges between written words other than punctuation, (edges, 2): places among ``written``, lower first."""
        counted = np.zeros(len(self.heads), dtype=bool)
        counted[self.written[~self.punctuation]] = True
        place = np.full(len(self.heads), -1, dtype=np.int64)
        place[self.written] = np.arange(len(self.written))
        below = np.flatnonzero(counted & (self.heads >= 0))
        below = below[counted[self.heads[below]]]
        return np.sort(place[np.column_stack([self.heads[below], below])], axis=1)

    @property
    def root(self) -> int | None:
        """The root's place among ``written``; None where it is punctuation or has no characters of its own."""
        roots = np.flatnonzero((self.heads[self.written] < 0) & ~self.punctuation)
        return int(roots[0]) if len(roots) else None


def tree_depths(heads: IntArray) -> IntArray:
    """Each word's depth, 0 for the root, in a tree given by ``heads`` (n,) as places from 0, -1 for the root."""
    depths = np.full(len(heads), -1, dtype=np.int64)
    depths[heads < 0] = 0
    while (depths < 0).any():
        reached = (depths < 0) & (depths[heads] >= 0)
        depths[reached] = depths[heads[reached]] + 1
    return depths


def tree_distances(heads: IntArray) -> IntArray:
    """Edges on the way between each pair of words, (n, n), in a tree given by ``heads`` as in ``tree_depths``."""
    distances = np.zeros((len(heads), len(heads)), dtype=np.int64)
    done: list[int] = []
    for word in np.argsort(tree_depths(heads), kind="stable"):
        if done:  # a word is one edge farther from all above and beside it than its head is
            distances[word, done] = distances[done, word] = distances[heads[word], done] + 1
        done.append(int(word))
    return distances


def flaw(heads: Sequence[int | None]) -> str | None:
    """Why heads (places from 0, -1 for a root, None for none) do not make a tree, in a few words; None if they do."""
    if any(head is None for head in heads):
        return "words without a head"
    roots = sum(head == -1 for head in heads)
    if roots != 1:
        return "several roots" if roots else "no root"
    # From each word up: who has not reached the root after as many steps as there are words goes in a circle.
    up = np.array([*heads, -1], dtype=np.int64)  # the last entry, -1 by place, stays where it is
    at = np.arange(len(heads))
    for _ in heads:
        at = up[at]
    return "a cycle" if (at >= 0).any() else None


@dataclass(frozen=True, slots=True)
class Treebank:
    """Sentences with their trees. ``words`` (token level) has an item for each written word, sentence by sentence,
    in the order of the sentence; ``trees`` are by text.
    """

    words: Dataset = field(repr=False)
    trees: Mapping[str, Tree] = field(repr=False)

    @property
    def name(self) -> str:
        return self.words.name

    def prepared(self, sentences: int, seed: int, *, again: bool) -> Treebank:
        """At most that many sentences, drawn by the seed; split again by it if ``again``."""
        return replace(self, words=sample(resplit(self.words, seed) if again else self.words, sentences, seed))

    def places(self) -> list[IntArray]:
        """The items of each text of ``words``."""
        order = np.argsort(self.words.text_of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.words.text_of))[:-1])

    def checked(self) -> Treebank:
        """This treebank if it can be probed. Raises InvalidInput for too few sentences or an empty part."""
        n = len(self.words.texts)
        if n < MIN_SENTENCES:
            left_out = " ".join(self.words.notes)
            raise InvalidInput(
                f"{self.name} has {n} different sentences with a tree; the structural probe needs "
                f"at least {MIN_SENTENCES} to be trained and tested. Add more.{left_out and f' ({left_out})'}"
            )
        for needed, named in ((TRAIN, "training"), (DEV, "development"), (TEST, "test")):
            if not (self.words.split == needed).any():
                raise InvalidInput(f"{self.name} has no {named} sentences. Add more sentences.")
        return self


def is_punctuation(form: str, upos: str) -> bool:
    """Whether a word is punctuation: by its part of speech, PUNCT, or where none is given ("_") by its characters."""
    if upos != "_":
        return upos == "PUNCT"
    return not any(character.isalnum() for character in form)


def chain(n: int) -> DoubleArray:
    """Distances in words, (n, n): what is known without a model, the tree that links each word to the next."""
    place = np.arange(n, dtype=np.float64)
    return np.abs(place[:, None] - place)
