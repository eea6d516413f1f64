"""Attention between the words of many sentences at once, and what follows from it: where a word looks most, the
strongest pair of words, the tree that a head spans.

Arrays are (texts, words, heads, words): of each word, in each head, what the others get. Texts are padded; absent words
get and give nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from model_zoo.types import BoolArray, FloatArray, IntArray


def between_words(weights: FloatArray, word_of: IntArray, n_words: int) -> FloatArray:
    """Attention (texts, heads, n, n) between tokens as attention between words, (texts, words, heads, words): summed
    over a key's tokens, the mean over a query's (Clark et al. 2019).

    ``word_of`` (texts, n) is the word of each token, -1 for those of none: special tokens and padding.
    """
    n_texts, n_heads, n, _ = weights.shape
    belongs = (word_of[..., None] == np.arange(n_words)).astype(np.float32)  # (texts, n, words)
    counts = np.maximum(belongs.sum(axis=1), 1)
    by_query = np.ascontiguousarray(weights.transpose(0, 2, 1, 3)).reshape(n_texts, n * n_heads, n)
    to_words = (by_query @ belongs).reshape(n_texts, n, n_heads * n_words)
    means = np.ascontiguousarray((belongs / counts[:, None]).swapaxes(1, 2))
    return np.asarray((means @ to_words).reshape(n_texts, n_words, n_heads, n_words))


def hide_trivial(between: FloatArray, present: BoolArray) -> None:
    """Put -1 where a word looks at itself or at a word that is absent, in place; ``present`` is (texts, words)."""
    place = np.arange(between.shape[1])
    between[:, place, :, place] = -1.0
    np.copyto(between, np.float32(-1), where=~present[:, None, None])


class Strongest(NamedTuple):
    """Of each text and head the pair of words with most attention, (texts, heads) each: how much, from where, to where;
    0 and -1 where a text has fewer than two words.
    """

    weight: FloatArray
    query: IntArray
    key: IntArray


def strongest_pairs(between: FloatArray, partner: IntArray, present: BoolArray) -> Strongest:
    """The strongest pair of each text and head. ``partner`` (texts, words, heads) is where each word looks most."""
    highest = np.take_along_axis(between, partner[..., None], axis=-1)[..., 0]  # (texts, words, heads)
    highest = np.where(present[..., None], highest, np.float32(-1))
    query = highest.argmax(axis=1)  # (texts, heads)
    weight = np.take_along_axis(highest, query[:, None], axis=1)[:, 0]
    key = np.take_along_axis(partner, query[:, None], axis=1)[:, 0]
    there = weight >= 0
    return Strongest(np.where(there, weight, 0), np.where(there, query, -1), np.where(there, key, -1))


def edges_found(between: FloatArray, counted: BoolArray, gold: BoolArray) -> IntArray:
    """How many edges of the ``gold`` trees (texts, words, words; symmetric) the heads' own have, (texts, heads).

    A head's tree is the spanning tree over the ``counted`` words (texts, words) with the most attention, an edge having
    the larger of both directions (Prim 1957; Htut et al. 2019 take directed trees). All texts and heads grow at once.
    Of edges with the same attention to a millionth the one that is not of gold is taken.
    """
    n_texts, n_words, n_heads, _ = between.shape
    of_heads = between.transpose(0, 2, 1, 3)
    both = np.maximum(of_heads, of_heads.swapaxes(2, 3))
    np.copyto(both, np.float32(-1), where=~(counted[:, None, None] & counted[:, None, :, None]))
    # Weights that are not negative are in the order of their bits, read as whole numbers: the lowest bit of an edge
    # can say whether it is of gold, and the larger of two edges carries its own.
    edges = both.view(np.int32) & ~1 | ~gold[:, None]
    edges = edges.reshape(-1, n_words)  # (texts * heads * words, words)
    n_trees = n_texts * n_heads
    tree = np.arange(n_trees)
    newest = np.repeat(counted.argmax(axis=1), n_heads)
    best = np.full((n_trees, n_words), -1, dtype=np.int32)
    inside = np.zeros((n_trees, n_words), dtype=np.int32)
    outside = np.empty_like(best)
    counts = np.zeros(n_trees, dtype=np.int64)
    for _ in range(int(counted.sum(axis=1).max(initial=1)) - 1):
        inside[tree, newest] = _NEVER
        np.maximum(best, edges[tree * n_words + newest], out=best)
        np.bitwise_or(best, inside, out=outside)
        newest = outside.argmax(axis=1)
        edge = outside[tree, newest]
        counts += (edge >= 0) & (edge & 1 == 0)
    return counts.reshape(n_texts, n_heads)


_NEVER = np.iinfo(np.int32).min  # the sign bit: smaller than every edge
