"""Words of one model's tokens, and those that models have in common."""

from dataclasses import replace

import builders
import numpy as np
import pytest
from cut_texts import BPE, UNIGRAM, WORDPIECE, cuttings, encoding, whole_words
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.alignment import align, all_on_common_words, map_to_common_words, states_on_common_words
from analysis.views import Weights
from analysis.words import Unit, merge, to_follow, token_units, word_units
from model_zoo.types import Encoding

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


def test_attention_by_hand() -> None:
    text = "ab c"
    pieces = encoding(text, [("a", 0, (0, 1)), ("##b", 0, (1, 2)), ("c", 1, (3, 4))])
    units = align([pieces, whole_words(text)]).units[0]
    weights = np.array([[0.2, 0.2, 0.2, 0.2, 0.2], [0.1, 0.3, 0.2, 0.3, 0.1], [0.5, 0.1, 0.1, 0.0, 0.3],
                        [0.0, 0.4, 0.2, 0.4, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]], dtype=np.float32)  # fmt: skip
    # Columns: ab, c, [CLS] and [SEP]. The row of "ab" is the mean of its two tokens' rows.
    expected = [[(0.5 + 0.2) / 2, (0.3 + 0.0) / 2, (0.2 + 0.8) / 2], [0.6, 0.4, 0.0]]
    actual = map_to_common_words(weights, units, pieces.special)
    np.testing.assert_allclose(actual, expected, atol=1e-7)
    assert actual.dtype == np.float32
    # Words outside the common part count to the rest.
    text = "so very unhappy now"
    cut = replace(encoding(text, [("so", 0, (0, 2)), ("very", 1, (3, 7))]), n_dropped=4)
    other = whole_words(text)
    units = align([cut, other]).units[1]
    weights = builders.random_maps(0, 6, 6)
    actual = map_to_common_words(weights, units, other.special)
    np.testing.assert_allclose(actual[:, :2], weights[1:3, 1:3], atol=1e-7)
    np.testing.assert_allclose(actual[:, 2], weights[1:3][:, [0, 3, 4, 5]].sum(axis=1), atol=1e-6)
    # A typed special token between the tokens of a word counts to the rest.
    weights = np.eye(3, dtype=np.float32)[[1, 1, 2]]  # tokens 0 and 1 look at 1, token 2 at itself
    actual = map_to_common_words(weights, (Unit("a b", 0, 3, 0, False),), (False, True, False))
    np.testing.assert_allclose(actual, [[0.5, 0.5]])


@settings(max_examples=60)
@given(cuttings(), st.integers(0, 2**32 - 1))
def test_attention_of_every_word_sums_to_one_and_equals_merging_words(
    drawn: tuple[str, list[Encoding]], seed: int
) -> None:
    """Words within one model are merged by another function; the rest is what goes to [CLS] and [SEP]."""
    _, encodings = drawn
    alignment = align(encodings)
    for encoded, units in zip(encodings, alignment.units, strict=True):
        weights = builders.random_maps(seed, 2, 3, len(encoded), len(encoded))
        common = map_to_common_words(weights, units, encoded.special)
        assert common.shape == (2, 3, len(alignment), len(alignment) + 1)
        np.testing.assert_allclose(common.sum(axis=-1), 1, atol=1e-5)
        all_units = (Unit("[CLS]", 0, 1, 0, True), *units, Unit("[SEP]", len(encoded) - 1, len(encoded), 0, True))
        merged = merge(weights, all_units)
        np.testing.assert_allclose(common[..., :-1], merged[..., 1:-1, 1:-1], atol=1e-6)
        np.testing.assert_allclose(common[..., -1], merged[..., 1:-1, 0] + merged[..., 1:-1, -1], atol=1e-6)


def test_all_heads_of_a_run_in_order() -> None:
    maps = builders.random_maps(0, 2, 2, 7, 7)
    run = builders.run(WORDPIECE, *maps)
    units = align([WORDPIECE, BPE]).units[0]
    actual = all_on_common_words(Weights(run), units)
    assert actual.shape == (4, 4, 5)
    np.testing.assert_array_equal(actual[3], map_to_common_words(maps[1, 1], units, WORDPIECE.special))
    # A model aligned with itself has its own words.
    assert [unit for unit in word_units(UNIGRAM) if not unit.special] == list(align([UNIGRAM, UNIGRAM]).units[0])
    # Hidden states are means over the tokens of a word.
    states = np.arange(2 * 7 * 3, dtype=np.float32).reshape(2, 7, 3)
    units = align([WORDPIECE, UNIGRAM]).units[0]
    actual = states_on_common_words(states, units, WORDPIECE.special)
    assert actual.shape == (2, 3, 3)
    np.testing.assert_allclose(actual[:, 1], states[:, 2:5].mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(actual[:, 2], states[:, 5])
    # Arrays of another text are refused.
    units = align([WORDPIECE, BPE]).units[0]
    for shape in ((6, 6), (7, 6), (2, 6, 7)):
        with pytest.raises(ValueError, match="does not fit 7 tokens"):
            map_to_common_words(np.zeros(shape, dtype=np.float32), units, WORDPIECE.special)
    with pytest.raises(ValueError, match="does not fit 7 tokens"):
        states_on_common_words(np.zeros((2, 6, 3), dtype=np.float32), units, WORDPIECE.special)
