"""The words of a sentence among the tokens of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model_zoo.types import BoolArray, Encoding, FloatArray, IntArray


def word_of_token(encoding: Encoding, spans: Sequence[tuple[int, int]]) -> IntArray:
    """For every token the word it belongs to, (n,): that of its last character, -1 for special tokens and for those
    outside of all words.

    ``spans`` are characters of the first text, in their order. Byte-level tokenizers count the space before a word into
    its first token, so that its last character decides. A token over two words ("don't" as one token, where a treebank
    has "do" and "n't") belongs to the last; a word without a token of its own is in none of them.
    """
    starts = np.array([start for start, _ in spans], dtype=np.int64)
    ends = np.array([end for _, end in spans], dtype=np.int64)
    lasts = np.array([end - 1 for _, end in encoding.offsets], dtype=np.int64)
    if not len(starts):
        return np.full(len(lasts), -1, dtype=np.int64)
    word = np.searchsorted(starts, lasts, side="right") - 1
    outside = np.array(encoding.special, dtype=bool) | (lasts < 0) | (word < 0)
    outside |= lasts >= ends[np.maximum(word, 0)]
    return np.where(outside, -1, word)


def belongs(word_of: IntArray, n_words: int) -> FloatArray:
    """Which word each token belongs to, (n, words) of 0 and 1."""
    return (word_of[:, None] == np.arange(n_words)).astype(np.float32)


def own_tokens(encoding: Encoding, spans: Sequence[tuple[int, int]]) -> BoolArray:
    """Which words have all their characters in tokens of their own, (words,): not those that the tokenizer drops, cuts
    off at the model's limit or joins to a neighbour.
    """
    starts: IntArray = np.array([start for start, _ in spans], dtype=np.int64)
    ends: IntArray = np.array([end for _, end in spans], dtype=np.int64)
    has_token = np.zeros(len(spans), dtype=bool)
    has_token[np.setdiff1d(word_of_token(encoding, spans), [-1])] = True
    read_to = max((end for _, end in encoding.offsets), default=0)
    for (start, end), special in zip(encoding.offsets, encoding.special, strict=True):
        if not special:
            first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(starts, end, side="left")
            has_token[first:last] &= last - first == 1
    if encoding.n_dropped:
        has_token &= ends <= read_to
    return has_token
