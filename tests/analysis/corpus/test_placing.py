"""Words of a sentence among the tokens of a model."""

from collections.abc import Sequence
from dataclasses import replace

import builders

from analysis.corpus.placing import belongs, own_tokens, word_of_token
from model_zoo.types import Encoding
from reading.sentences import plain_words


def _encoding(text: str, offsets: Sequence[tuple[int, int]]) -> Encoding:
    return builders.encoding([text[start:end] for start, end in offsets], text=text, offsets=((0, 0), *offsets, (0, 0)))


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


def test_word_of_token() -> None:
    for case, (spans, offsets, expected) in CASES.items():
        assert word_of_token(_encoding(TEXT, offsets), spans).tolist() == expected, case
    spans, offsets, _ = CASES["pieces"]
    membership = belongs(word_of_token(_encoding(TEXT, offsets), spans), len(spans))
    assert membership.shape == (8, 4)
    assert membership.sum(axis=0).tolist() == [1, 2, 2, 1]
    assert membership.sum(axis=1).tolist() == [0, 1, 1, 1, 1, 1, 1, 0]
    for case, (spans, offsets, expected) in OWN_TOKENS.items():
        assert own_tokens(_encoding(TEXT, offsets), spans).tolist() == expected, case
    # A word that is cut has not all of its tokens.
    cut = replace(_encoding(TEXT, [(0, 3), (4, 8)]), n_dropped=3)
    assert own_tokens(cut, WORDS).tolist() == [True, False, False, False]


OWN_TOKENS = {
    "a token a word": (WORDS, [(0, 3), (4, 11), (12, 16), (16, 17)], [True] * 4),
    "the space before belongs to the token": (WORDS, [(0, 3), (3, 11), (11, 16), (16, 17)], [True] * 4),
    "a token over two words": (TREE, [(0, 3), (4, 11), (12, 14), (14, 17)], [True, False, False, False, False]),
    "a word that the tokenizer drops": (WORDS, [(0, 3), (12, 16), (16, 17)], [True, False, True, True]),
    "no words": ([], [(0, 3)], []),
}
