"""Attention between words of many sentences at once, against loops and scipy."""

from collections.abc import Iterable

import numpy as np
import pytest
from builders import random_maps
from scipy.sparse.csgraph import minimum_spanning_tree

from analysis.corpus.between_words import Strongest, between_words, edges_found, hide_trivial, strongest_pairs
from analysis.corpus.examples import DRAWN, STEPS, TOP, Examples
from analysis.words import Unit, merge

WORD_OF = [
    [-1, 0, 0, 1, 2, 3, 4, 4, -1],
    [-1, 0, 1, 1, 2, -1, -1, -1, -1],
    [-1, 0, -1, -1, -1, -1, -1, -1, -1],
    [-1, 0, 1, 2, 3, 5, 6, -1, -1],  # word 4 has no token
]
PRESENT = np.array([[place in row for place in range(7)] for row in WORD_OF])


def weights() -> np.ndarray:
    return np.stack([random_maps(seed, 3, 9, 9, spread=3) for seed in range(4)])


def test_attention_between_words_is_that_of_merged_units() -> None:
    attention = between_words(weights(), np.array(WORD_OF), 7)
    units = (Unit("", 1, 3, 0, False), *(Unit("", at, at + 1, 0, False) for at in (3, 4, 5)), Unit("", 6, 8, 0, False))
    for head in range(3):
        inner = merge(
            weights()[0, head][:, 1:8],
            tuple(Unit("", at, at + 1, 0, False) for at in range(9)),
            tuple(Unit("", unit.start - 1, unit.stop - 1, 0, False) for unit in units),
        )
        expected = np.stack([inner[unit.start : unit.stop].mean(axis=0) for unit in units])
        np.testing.assert_allclose(attention[0, :5, head, :5], expected, atol=1e-6)
    assert (attention[2, 1:] == 0).all()


def test_the_strongest_pair_is_that_of_a_loop() -> None:
    attention = between_words(weights(), np.array(WORD_OF), 7)
    attention = hide_trivial(attention, PRESENT)
    strongest = strongest_pairs(attention.max(axis=-1), attention.argmax(axis=-1), PRESENT)
    for text in range(4):
        there = np.flatnonzero(PRESENT[text])
        for head in range(3):
            pairs = {(q, k): attention[text, q, head, k] for q in there for k in there if q != k}
            if not pairs:
                assert (strongest.query[text, head], strongest.weight[text, head]) == (-1, 0)
                continue
            best = max(pairs, key=pairs.__getitem__)
            assert (strongest.query[text, head], strongest.key[text, head]) == best
            assert strongest.weight[text, head] == pairs[best]


@pytest.mark.parametrize("seed", range(5))
def test_edges_are_those_of_scipys_spanning_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_texts, n_words, n_heads = 6, 9, 4
    counted = np.arange(n_words) < rng.integers(1, n_words + 1, n_texts)[:, None]
    counted &= rng.random((n_texts, n_words)) < 0.9
    actual = rng.random((n_texts, n_words, n_heads, n_words)).astype(np.float32)
    actual = hide_trivial(actual, np.ones((n_texts, n_words), dtype=bool))
    gold = rng.random((n_texts, n_words, n_words)) < 0.3
    gold |= gold.swapaxes(1, 2)
    expected = np.zeros((n_texts, n_heads), dtype=int)
    for text in range(n_texts):
        words = np.flatnonzero(counted[text])
        for head in range(n_heads):
            weight = actual[text, :, head][np.ix_(words, words)].astype(float)
            weight = np.maximum(weight, weight.T)
            np.fill_diagonal(weight, 0)
            tree = minimum_spanning_tree(np.where(weight > 0, 2 - weight, 0)).tocoo()
            expected[text, head] = sum(
                gold[text, words[row], words[col]] for row, col in zip(tree.row, tree.col, strict=True)
            )
    np.testing.assert_array_equal(edges_found(actual, counted, gold), expected)


def test_of_edges_alike_the_one_that_is_not_gold_is_taken() -> None:
    """A uniform head spans some tree, which finds nothing by grace of the count."""
    actual = np.full((1, 4, 1, 4), 0.25, dtype=np.float32)
    actual = hide_trivial(actual, np.ones((1, 4), dtype=bool))
    gold = np.zeros((1, 4, 4), dtype=bool)
    gold[0, 0, 1] = gold[0, 1, 0] = True
    assert edges_found(actual, np.ones((1, 4), dtype=bool), gold)[0, 0] == 0


def examples(numbers: Iterable[int]) -> Examples:
    """Of sentences with these numbers; each has the same strengths wherever it is."""
    numbers = list(numbers)
    drawn = [np.random.default_rng([0, number]) for number in numbers]
    weight = np.array([rng.random(5) for rng in drawn], dtype=np.float32)
    query = np.array([rng.integers(0, 9, 5) for rng in drawn])
    return Examples.from_pairs(Strongest(weight, query, query + 1), np.array(numbers))


def test_examples_are_the_same_in_whatever_parts_and_order() -> None:
    kept = examples(range(300))
    for n_parts in (3, 17):
        parts = [examples(range(place, 300, n_parts)) for place in range(n_parts)]
        added = parts[0]
        for part in parts[:0:-1]:
            added = part + added
        for head in range(5):
            assert added.strongest(head) == kept.strongest(head)
            assert added.sample(head) == kept.sample(head)
    # Examples are the strongest and a sample of every strength.
    weights_ = {number: np.random.default_rng([0, number]).random(5).astype(np.float32) for number in range(300)}
    for head in range(5):
        order = sorted(range(300), key=lambda number: -weights_[number][head])
        assert [entry.sentence for entry in kept.strongest(head)] == order[:TOP]
        edges = [0, *STEPS, 1.01]
        for step, inside in enumerate(kept.sample(head)[::-1]):
            assert len(inside) == DRAWN
            assert all(edges[step] <= entry.weight < edges[step + 1] for entry in inside)
    drawn = {entry.sentence for inside in kept.sample(0) for entry in inside}
    assert drawn != {entry.sentence for inside in kept.sample(1) for entry in inside}
    kept = examples([7])
    assert [entry.sentence for entry in kept.strongest(2)] == [7]
    assert sum(map(len, kept.sample(2))) == 1
