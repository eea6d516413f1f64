"""Attention and hidden states on the words that several tokenizers have in common."""

from dataclasses import replace

import builders
import numpy as np
import pytest
from cut_texts import BPE, UNIGRAM, WORDPIECE, cuttings, encoding, whole_words
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.alignment import align, all_on_common_words, map_to_common_words, states_on_common_words
from analysis.views import Weights
from analysis.words import Unit, merge, word_units
from model_zoo.types import Encoding


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
