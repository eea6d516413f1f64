"""From tokens to words: which tokens make up a word, and attention between words from that between tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model_zoo.types import Encoding, FloatArray

_PRONOUNS = frozenset({"it", "he", "she", "they", "him", "her", "them"})


@dataclass(frozen=True, slots=True)
class Unit:
    """One row or column of a view: the tokens ``start`` to ``stop`` (exclusive) under one label.

    ``segment`` is 0 for the first text and 1 for the second; ``special`` marks [CLS], [SEP] and their kin.
    """

    label: str
    start: int
    stop: int
    segment: int
    special: bool


def written(encoding: Encoding, place: int) -> str:
    """What was typed of the token at a place; "" for tokens nobody typed."""
    start, end = encoding.offsets[place]
    text = (encoding.text, encoding.text_pair or "")[min(encoding.segment_ids[place], 1)]
    return text[start:end].strip()


def is_word(encoding: Encoding, place: int) -> bool:
    """Whether the token at a place holds letters or digits that somebody typed."""
    return any(sign.isalnum() for sign in written(encoding, place))


def to_follow(encoding: Encoding) -> int | None:
    """The token that is worth following through a model: the last pronoun, else the last word; None without words."""
    words = [at for at, special in enumerate(encoding.special) if not special and is_word(encoding, at)]
    pronouns = [at for at in words if written(encoding, at).lower() in _PRONOUNS]
    return max(pronouns or words, default=None)


def token_units(encoding: Encoding) -> tuple[Unit, ...]:
    """Every token as a unit of its own, labelled as the tokenizer writes it."""
    return tuple(
        Unit(token, index, index + 1, encoding.segment_ids[index], encoding.special[index])
        for index, token in enumerate(encoding.tokens)
    )


def word_units(encoding: Encoding) -> tuple[Unit, ...]:
    """The words of an encoding, labelled as they were written; a token without a word id stays its own unit."""
    return tuple(
        Unit(
            _label(encoding, word.start, word.stop),
            word.start,
            word.stop,
            encoding.segment_ids[word.start],
            all(encoding.special[index] for index in word),
        )
        for word in encoding.words
    )


def merge(weights: FloatArray, queries: tuple[Unit, ...], keys: tuple[Unit, ...] | None = None) -> FloatArray:
    """Attention (..., n, m) between tokens as attention between units, which cover all n queries and all m keys.

    ``keys`` are the units of the keys where these are other tokens than the queries. Sum over the key tokens
    of a unit, mean over its query tokens (Clark et al. 2019): rows that summed to 1 still do.
    """
    keys = queries if keys is None else keys
    if len(keys) < weights.shape[-1]:
        weights = np.add.reduceat(weights, [unit.start for unit in keys], axis=-1)
    if len(queries) < weights.shape[-2]:
        lengths: FloatArray = np.array([unit.stop - unit.start for unit in queries], dtype=np.float32)
        by_query = np.add.reduceat(weights, [unit.start for unit in queries], axis=-2)
        weights = np.asarray(by_query / lengths[:, None], dtype=np.float32)
    return weights


def _label(encoding: Encoding, start: int, stop: int) -> str:
    """The slice of the text that a run of tokens covers; the tokens themselves where they cover none."""
    if encoding.word_ids[start] is not None:
        text = (encoding.text if encoding.segment_ids[start] == 0 else encoding.text_pair) or ""
        spans = encoding.offsets[start:stop]
        # Byte-level tokenizers count the space before a word into its first token.
        word = text[min(first for first, _ in spans) : max(last for _, last in spans)].strip()
        if word:
            return word
    return "".join(encoding.tokens[start:stop])
