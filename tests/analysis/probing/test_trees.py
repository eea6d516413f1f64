"""Trees drawn by hand: their distances, depths and edges, and what is no tree."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_trees import DISTANCES, HEADS, TREE

from analysis.probing.structural import edges_found, spanning_tree
from analysis.probing.trees import Tree, chain, flaw, tree_depths, tree_distances


def test_distances_depths_and_edges_of_a_tree_drawn_by_hand() -> None:
    assert tree_distances(HEADS).tolist() == DISTANCES
    assert tree_depths(HEADS).tolist() == [2, 1, 0, 2, 1, 3, 2, 1]
    assert {tuple(edge) for edge in TREE.edges.tolist()} == {(0, 1), (1, 2), (3, 4), (2, 4), (5, 6), (4, 6)}
    assert TREE.root == 2


def test_words_without_characters_pass_distances_on() -> None:
    tree = Tree(HEADS, np.array([0, 1, 2, 3, 5, 6, 7]), np.array([False] * 6 + [True]))  # without "dog"
    assert tree.distances[3].tolist() == [4, 3, 2, 0, 3, 2, 3]
    assert {tuple(edge) for edge in tree.edges.tolist()} == {(0, 1), (1, 2), (4, 5)}
    assert tree.depths.tolist() == [2, 1, 0, 2, 3, 2, 1]
    assert Tree(HEADS, np.array([0, 1, 3]), np.zeros(3, dtype=bool)).root is None


@pytest.mark.parametrize(
    ("heads", "actual"),
    [
        ([1, -1, 1], None),
        ([-1], None),
        ([1, None, 1], "words without a head"),
        ([-1, -1, 1], "several roots"),
        ([1, 0], "no root"),
        ([-1, 2, 1], "a cycle"),
        ([-1, 1, 0], "a cycle"),  # a word that is its own head
    ],
)
def test_what_is_no_tree(heads: list[int | None], actual: str | None) -> None:
    assert flaw(heads) == actual


def test_the_chain_finds_the_edges_between_neighbours() -> None:
    actual = spanning_tree(chain(8), ~TREE.punctuation)
    assert actual.tolist() == [[i, i + 1] for i in range(6)]  # the full stop is left out
    # the-cat, cat-saw, a-dog, near-houses of six
    assert edges_found(TREE.edges, actual).sum() == 4
    assert edges_found(TREE.edges, actual).mean() == pytest.approx(4 / 6)
