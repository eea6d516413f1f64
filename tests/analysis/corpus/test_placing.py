"""Words of a sentence among the tokens of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from analysis.corpus.placing import belongs, own_tokens, word_of_token
from model_zoo.types import Encoding
from reading.sentences import plain_words


def _encoding(text: str, offsets: Sequence[tuple[int, int]], n_special: tuple[int, int] = (1, 1)) -> Encoding:
    before, after = n_special
    every = [(0, 0)] * before + list(offsets) + [(0, 0)] * after
    special = [True] * before + [False] * len(offsets) + [True] * after
    n = len(every)
    return Encoding(
        text=text, text_pair=None, tokens=tuple(text[start:end] for start, end in every), ids=(0,) * n,
        word_ids=(None,) * n, offsets=tuple(every), segment_ids=(0,) * n, special=tuple(special),
    )  # fmt: skip


TEXT = "She doesn't mind."
WORDS = plain_words(TEXT)  # She, doesn't, mind, .
TREE = [(0, 3), (4, 8), (8, 11), (12, 16), (16, 17)]  # She, does, n't, mind, .

CASES = {
    "a token a word": (WORDS, [(0, 3), (4, 11), (12, 16), (16, 17)], [-1, 0, 1, 2, 3, -1]),
    "pieces": (WORDS, [(0, 3), (4, 8), (8, 11), (12, 14), (14, 16), (16, 17)], [-1, 0, 1, 1, 2, 2, 3, -1]),
    "the space before belongs to the token": (WORDS, [(0, 3), (3, 11), (11, 16), (16, 17)], [-1, 0, 1, 2, 3, -1]),
    "a token over two words": (TREE, [(0, 3), (4, 11), (12, 17)], [-1, 0, 2, 4, -1]),
    "cut off by the tokenizer": (WORDS, [(0, 3), (4, 11)], [-1, 0, 1, -1]),
    "a space alone is in no word": (WORDS, [(0, 3), (3, 4), (4, 11)], [-1, 0, -1, 1, -1]),
    "no words": ([], [(0, 3)], [-1, -1, -1]),
}


@pytest.mark.parametrize("case", CASES)
def test_word_of_token(case: str) -> None:
    spans, offsets, expected = CASES[case]
    assert word_of_token(_encoding(TEXT, offsets), spans).tolist() == expected


def test_belongs() -> None:
    spans, offsets, _ = CASES["pieces"]
    membership = belongs(word_of_token(_encoding(TEXT, offsets), spans), len(spans))
    assert membership.shape == (8, 4)
    assert membership.sum(axis=0).tolist() == [1, 2, 2, 1]
    assert membership.sum(axis=1).tolist() == [0, 1, 1, 1, 1, 1, 1, 0]


OWN_TOKENS = {
    "a token a word": (WORDS, [(0, 3), (4, 11), (12, 16), (16, 17)], [True] * 4),
    "the space before belongs to the token": (WORDS, [(0, 3), (3, 11), (11, 16), (16, 17)], [True] * 4),
    "a token over two words": (TREE, [(0, 3), (4, 11), (12, 14), (14, 17)], [True, False, False, False, False]),
    "a word that the tokenizer drops": (WORDS, [(0, 3), (12, 16), (16, 17)], [True, False, True, True]),
    "no words": ([], [(0, 3)], []),
}


@pytest.mark.parametrize("case", OWN_TOKENS)
def test_own_tokens(case: str) -> None:
    spans, offsets, expected = OWN_TOKENS[case]
    assert own_tokens(_encoding(TEXT, offsets), spans).tolist() == expected


def test_a_word_that_is_cut_has_not_all_of_its_tokens() -> None:
    cut = replace(_encoding(TEXT, [(0, 3), (4, 8)]), n_dropped=3)
    assert own_tokens(cut, WORDS).tolist() == [True, False, False, False]
