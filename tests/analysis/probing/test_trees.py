"""Trees drawn by hand and made by templates: their distances, depths and edges, and what is no tree."""

import re

import numpy as np
import pytest
from drawn_trees import DISTANCES, HEADS, TREE
from own_files import trees

from analysis.probing.data import DEV, TEST, TRAIN
from analysis.probing.grammar import THINGS
from analysis.probing.structural import edges_found, spanning_tree
from analysis.probing.template_trees import template_conllu
from analysis.probing.trees import Tree, chain, flaw, tree_depths, tree_distances


def test_distances_depths_and_edges_of_a_tree_drawn_by_hand() -> None:
    assert tree_distances(HEADS).tolist() == DISTANCES
    assert tree_depths(HEADS).tolist() == [2, 1, 0, 2, 1, 3, 2, 1]
    assert {tuple(edge) for edge in TREE.edges.tolist()} == {(0, 1), (1, 2), (3, 4), (2, 4), (5, 6), (4, 6)}
    assert TREE.root == 2
    # Words without characters pass distances on.
    tree = Tree(HEADS, np.array([0, 1, 2, 3, 5, 6, 7]), np.array([False] * 6 + [True]))  # without "dog"
    assert tree.distances[3].tolist() == [4, 3, 2, 0, 3, 2, 3]
    assert {tuple(edge) for edge in tree.edges.tolist()} == {(0, 1), (1, 2), (4, 5)}
    assert tree.depths.tolist() == [2, 1, 0, 2, 3, 2, 1]
    assert Tree(HEADS, np.array([0, 1, 3]), np.zeros(3, dtype=bool)).root is None
    # The chain finds the edges between neighbours.
    actual = spanning_tree(chain(8), ~TREE.punctuation)
    assert actual.tolist() == [[i, i + 1] for i in range(6)]  # the full stop is left out
    # the-cat, cat-saw, a-dog, near-houses of six
    assert edges_found(TREE.edges, actual).sum() == 4
    assert edges_found(TREE.edges, actual).mean() == pytest.approx(4 / 6)


def test_what_is_no_tree() -> None:
    assert flaw([1, -1, 1]) is flaw([-1]) is None
    assert flaw([1, None, 1]) == "words without a head"
    assert flaw([-1, -1, 1]) == "several roots"
    assert flaw([1, 0]) == "no root"
    assert flaw([-1, 2, 1]) == flaw([-1, 1, 0]) == "a cycle"  # of two words, and of one that is its own head


def test_template_sentences_are_different_and_trees_of_their_words() -> None:
    text = template_conllu(300, seed=2)
    assert text == template_conllu(300, seed=2)
    assert "made by templates" in text.splitlines()[0]
    treebank = trees(text.encode(), "templates")
    assert len(treebank.words.texts) == 300
    assert not treebank.words.notes
    written = [line.removeprefix("# text = ") for line in text.splitlines() if line.startswith("# text = ")]
    assert list(treebank.words.texts) == written
    assert {DEV, TEST, TRAIN} == set(treebank.words.split.tolist())
    # No lamp sees or wants anything: after "the lamp that" somebody else follows.
    things = "|".join(noun.singular for noun in THINGS)
    assert not re.search(rf"\b({things}) that (?!the |this |every )", text)
    for tree in treebank.trees.values():
        assert tree.punctuation[-1]
        # Every link but the comma's and the full stop's crosses no other: what a template makes is projective.
        edges = tree.edges.tolist()
        assert not any(a < c < b < d for a, b in edges for c, d in edges)
