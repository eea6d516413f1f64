"""Which tokens make a word, its label, and attention between words by hand and against a slow loop."""

from dataclasses import replace

import builders
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.words import Unit, merge, to_follow, token_units, word_units

# "Unhappy cats" / "¡Sí!" cut as WordPiece would, accents and all.
PAIR = builders.encoding(
    ["un", "##happy", "cats"],
    ["¡", "si", "!"],
    text="Unhappy  cats",
    text_pair="¡Sí!",
    offsets=((0, 0), (0, 2), (2, 7), (9, 13), (0, 0), (0, 1), (1, 3), (3, 4), (0, 0)),
)


def test_words_carry_the_text_as_written() -> None:
    labels = ["[CLS]", "Unhappy", "cats", "[SEP]", "¡", "Sí", "!", "[SEP]"]
    places = [(0, 1, 0), (1, 3, 0), (3, 4, 0), (4, 5, 0), (5, 6, 1), (6, 7, 1), (7, 8, 1), (8, 9, 1)]
    assert word_units(PAIR) == tuple(
        Unit(label, *place, label.startswith("[")) for label, place in zip(labels, places, strict=True)
    )
    # Tokens stay as the tokenizer writes them.
    units = token_units(PAIR)
    assert tuple(unit.label for unit in units) == PAIR.tokens
    assert [(unit.start, unit.stop) for unit in units] == [(index, index + 1) for index in range(9)]
    assert tuple(unit.segment for unit in units) == PAIR.segment_ids
    # The space a byte level token begins with is no part of the word.
    encoding = builders.encoding(
        ["a", "Ġð", "ŁĺĢ"], front=None, end=None, text="a 😀", word_ids=(0, 1, 1), offsets=((0, 1), (1, 3), (2, 3))
    )
    assert [unit.label for unit in word_units(encoding)] == ["a", "😀"]
    # A word that covers no text is called by its tokens.
    encoding = replace(PAIR, offsets=((0, 0),) * 9)
    assert [unit.label for unit in word_units(encoding)][1:3] == ["un##happy", "cats"]
    # Neighbouring special tokens stay apart.
    encoding = replace(PAIR, word_ids=(None,) * 9)
    assert [unit.stop - unit.start for unit in word_units(encoding)] == [1] * 9


def test_sum_over_keys_and_mean_over_queries_by_hand() -> None:
    units = (Unit("a", 0, 1, 0, False), Unit("bc", 1, 3, 0, False))
    weights = np.array([[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [0.6, 0.4, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(merge(weights, units), [[0.5, 0.5], [0.4, 0.6]], atol=1e-7)
    assert merge(np.zeros((2, 0, 0), dtype=np.float32), ()).shape == (2, 0, 0)
    weights = builders.random_maps(0, 2, len(PAIR), 4)
    keys = (Unit("ab", 0, 2, 0, False), Unit("c", 2, 3, 0, False), Unit("d", 3, 4, 0, True))
    queries = word_units(PAIR)
    merged = merge(weights, queries, keys)
    assert merged.shape == (2, len(queries), 3)
    for row, query in enumerate(queries):
        for column, key in enumerate(keys):
            slow = [weights[:, q, key.start : key.stop].sum(-1) for q in range(query.start, query.stop)]
            np.testing.assert_allclose(merged[:, row, column], np.mean(slow, axis=0), atol=1e-6)
    np.testing.assert_allclose(merged.sum(-1), 1, atol=1e-6)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_words_equal_a_slow_loop_and_their_rows_sum_to_one(lengths: list[int], seed: int) -> None:
    stops = np.cumsum(lengths)
    units = tuple(
        Unit(str(index), int(stop) - length, int(stop), 0, False)
        for index, (length, stop) in enumerate(zip(lengths, stops, strict=True))
    )
    weights = builders.random_maps(seed, 3, stops[-1], stops[-1])
    merged = merge(weights, units)

    def weight(head: np.ndarray, query: Unit, key: Unit) -> float:
        return np.mean([sum(head[i, j] for j in range(key.start, key.stop)) for i in range(query.start, query.stop)])

    expected = [[[weight(head, query, key) for key in units] for query in units] for head in weights]
    np.testing.assert_allclose(merged, expected, atol=1e-6)
    np.testing.assert_allclose(merged.sum(axis=-1), 1, atol=1e-5)
    assert merged.dtype == np.float32


@pytest.mark.parametrize(("text", "followed"), [("she saw the dog .", "she"), ("the dog ran .", "ran"), (". !", None)])
def test_what_is_followed_is_a_pronoun_or_the_last_word(text: str, followed: str | None) -> None:
    tokens = builders.encoding(text.split())
    place = to_follow(tokens)
    assert (None if place is None else tokens.tokens[place]) == followed
