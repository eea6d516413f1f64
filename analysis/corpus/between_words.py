"""Attention between the words of many sentences at once, and what follows from it: where a word looks most, the
strongest pair of words, the tree that a head spans.

Arrays are (texts, words, heads, words): of each word, in each head, what the others get. Texts are padded; absent words
get and give nothing. What is as large as attention is computed where attention lies (``analysis.arrays``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.arrays import Array, beside, in_memory, namespace
from model_zoo.types import BoolArray, FloatArray, IntArray


def between_words(weights: Array, word_of: IntArray, n_words: int) -> Array:
    """Attention (texts, heads, n, n) between tokens as attention between words, (texts, words, heads, words): summed
    over a key's tokens, the mean over a query's (Clark et al. 2019).

    ``word_of`` (texts, n) is the word of each token, -1 for those of none: special tokens and padding.
    """
    n_texts, n_heads, n, _ = weights.shape
    belongs = (word_of[..., None] == np.arange(n_words)).astype(np.float32)  # (texts, n, words)
    means = np.ascontiguousarray((belongs / np.maximum(belongs.sum(axis=1), 1)[:, None]).swapaxes(1, 2))
    by_query = weights.swapaxes(1, 2).reshape(n_texts, n * n_heads, n)
    to_words = (by_query @ beside(belongs, weights)).reshape(n_texts, n, n_heads * n_words)
    return (beside(means, weights) @ to_words).reshape(n_texts, n_words, n_heads, n_words)


def hide_trivial(between: Array, present: BoolArray) -> Array:
    """The same with -1 where a word looks at itself or at a word that is absent; ``present`` is (texts, words)."""
    hidden = np.eye(between.shape[1], dtype=bool) | ~present[:, None]  # (texts, words, words)
    return namespace(between).where(beside(hidden[:, :, None], between), -1.0, between)


class Strongest(NamedTuple):
    """Of each text and head the pair of words with most attention, (texts, heads) each: how much, from where, to where;
    0 and -1 where a text has fewer than two words.
    """

    weight: FloatArray
    query: IntArray
    key: IntArray


def strongest_pairs(highest: FloatArray, partner: IntArray, present: BoolArray) -> Strongest:
    """The strongest pair of each text and head. ``partner`` (texts, words, heads) is where each word looks most, and
    ``highest`` how much.
    """
    highest = np.where(present[..., None], highest, np.float32(-1))
    query = highest.argmax(axis=1)  # (texts, heads)
    weight = highest.max(axis=1)
    key = np.take_along_axis(partner, query[:, None], axis=1)[:, 0]
    there = weight >= 0
    return Strongest(np.where(there, weight, 0), np.where(there, query, -1), np.where(there, key, -1))


def edges_found(between: Array, counted: BoolArray, gold: BoolArray) -> IntArray:
    """How many edges of the ``gold`` trees (texts, words, words; symmetric) the heads' own have, (texts, heads).

    A head's tree is the spanning tree over the ``counted`` words (texts, words) with the most attention, an edge having
    the larger of both directions (Prim 1957; Htut et al. 2019 take directed trees). All texts and heads grow at once.
    Of edges with the same attention to a millionth the one that is not of gold is taken.
    """
    xp = namespace(between)
    n_texts, n_words, n_heads, _ = between.shape
    of_heads = between.swapaxes(1, 2)
    both = xp.maximum(of_heads, of_heads.swapaxes(2, 3))
    # Weights that are not negative are in the order of their bits, read as whole numbers: the lowest bit of an edge
    # can say whether it is of gold, and the larger of two edges carries its own. Where a word is not counted, it is
    # negative.
    inner = counted[:, None] & counted[:, :, None]  # (texts, words, words)
    bits = np.where(inner, ~gold, _NEVER).astype(np.int32)[:, None]
    edges = (both.view(xp.int32) & ~1 | beside(bits, both)).reshape(-1, n_words)  # (texts * heads * words, words)
    n_trees = n_texts * n_heads
    first = beside(np.arange(n_trees), both) * n_words
    newest = beside(np.repeat(counted.argmax(axis=1), n_heads), both)
    best = xp.full_like(edges[:n_trees], -1)
    inside, outside = xp.zeros_like(best), xp.empty_like(best)
    counts = xp.zeros_like(newest)
    for _ in range(int(counted.sum(axis=1).max(initial=1)) - 1):
        inside.reshape(-1)[first + newest] = _NEVER
        xp.maximum(best, edges[first + newest], out=best)
        xp.bitwise_or(best, inside, out=outside)
        newest = outside.argmax(axis=1)
        edge = outside.reshape(-1)[first + newest]
        counts += (edge >= 0) & (edge & 1 == 0)
    return in_memory(counts).reshape(n_texts, n_heads)


_NEVER = np.iinfo(np.int32).min  # the sign bit: smaller than every edge
