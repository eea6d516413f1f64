"""How far two heads lie apart, and whether measures of them agree."""

import builders
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from tokenizers.pre_tokenizers import ByteLevel

from analysis import divergence
from analysis.agreement import agreement, rank_of, readable, written
from analysis.alignment import align, map_to_common_words
from analysis.divergence import Match, best_matches, head_matrix, jensen_shannon, matches_table, matching_layer
from analysis.views import Weights
from model_zoo.types import AttentionRun, FloatArray, MaskPrediction, Prediction


def maps(*shape: int, seed: int = 0, spread: float = 0.3) -> FloatArray:
    """Random attention (..., queries, keys), far from uniform."""
    return builders.random_maps(seed, *shape, spread=spread)


def slow(a: FloatArray, b: FloatArray) -> FloatArray:
    """The definition by SciPy, whose distance is the square root, in float64."""
    p, q = a.astype(np.float64), b.astype(np.float64)
    distances = jensenshannon(p[:, None], q[None], base=2, axis=-1)
    return np.nan_to_num(distances**2).mean(axis=-1).astype(np.float32)


def run(weights: FloatArray) -> AttentionRun:
    """A run of attention (layers, heads, n, n) on [CLS], n - 2 words and [SEP]."""
    words = [f"w{word}" for word in range(weights.shape[-1] - 2)]
    return builders.run(builders.encoding(words), *weights)


def test_two_by_two_by_hand() -> None:
    a = np.array([[[1, 0], [0.5, 0.5]]], dtype=np.float32)
    b = np.array([[[0, 1], [0.5, 0.5]], [[1, 0], [0.5, 0.5]], [[0.5, 0.5], [0, 1]]], dtype=np.float32)
    # [1, 0] and [.5, .5]: H(3/4, 1/4) - H(1/2, 1/2) / 2; [1, 0] and [0, 1]: one whole bit.
    half = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)) - 0.5
    np.testing.assert_allclose(jensen_shannon(a, b), [[1 / 2, 0, half]], atol=1e-6)


@settings(max_examples=60)
@given(*(st.integers(1, most) for most in (5, 5, 9, 12)), st.integers(0, 2**32 - 1), st.booleans())
def test_equals_scipy(heads_a: int, heads_b: int, m: int, k: int, seed: int, holes: bool) -> None:
    a, b = maps(heads_a, m, k, seed=seed), maps(heads_b, m, k, seed=seed + 1)
    if holes:  # as in a window or under a causal mask, where weights are 0 exactly
        for weights in (a, b):
            weights[weights < weights.max(axis=-1, keepdims=True) / 2] = 0
            weights /= weights.sum(axis=-1, keepdims=True)
    actual = jensen_shannon(a, b)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, slow(a, b), atol=2e-6)
    np.testing.assert_array_equal(actual, jensen_shannon(b, a).T)


@pytest.mark.parametrize("spread", [0.02, 0.3, 30.0])
def test_equals_scipy_at_the_size_of_a_page_and_in_blocks_of_any_size(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = maps(13, 64, 65, seed=1, spread=spread), maps(12, 64, 65, seed=2, spread=spread)
    expected = slow(a, b)
    for n_bytes in (1, 5 * 64 * 65 * 4, 2**30):  # one head at a time, blocks with a remainder, all at once
        monkeypatch.setattr(divergence, "_BLOCK_BYTES", n_bytes)
        np.testing.assert_allclose(jensen_shannon(a, b), expected, atol=2e-6)


def test_a_model_and_itself() -> None:
    """Difference 0, divergence 0 to the last digit, and every head finds itself."""
    weights = maps(3, 4, 9, 9)
    same = run(weights)
    alignment = align([same.encoding, same.encoding])
    a, b = (map_to_common_words(same.layer(1), units, same.encoding.special) for units in alignment.units)
    assert not (a - b).any()
    actual = head_matrix(Weights(same), Weights(same), alignment)
    assert actual.shape == (12, 12)
    np.testing.assert_array_equal(np.diag(actual), 0)
    off = actual[~np.eye(12, dtype=bool)]
    assert off.min() > 0.01
    assert off.max() <= 1
    matches = best_matches(actual, 4, 4)
    assert len(matches) == 12
    assert all((match.layer_a, match.head_a) == (match.layer_b, match.head_b) for match in matches)
    assert {match.divergence for match in matches} == {0.0}


def test_heads_of_different_models_are_numbered_by_their_own_layers() -> None:
    of_a, of_b = maps(2, 3, 8, 8, seed=1), maps(4, 2, 8, 8, seed=2)
    of_b[3][1] = of_a[1][0]  # the last head of B does what head (1, 0) of A does
    a, b = run(of_a), run(of_b)
    alignment = align([a.encoding, b.encoding])
    actual = head_matrix(Weights(a), Weights(b), alignment)
    assert actual.shape == (6, 8)
    for row, column in ((0, 0), (2, 5), (5, 7)):
        pair = [
            map_to_common_words(of.head(*divmod(number, of.n_heads)), alignment.units[0], of.encoding.special)
            for of, number in ((a, row), (b, column))
        ]
        np.testing.assert_allclose(actual[row, column], slow(pair[0][None], pair[1][None])[0, 0], atol=2e-6)
    matches = best_matches(actual, 3, 2)
    assert matches[0] == Match(0.0, 1, 0, 3, 1)
    assert [match.divergence for match in matches] == sorted(actual.min(axis=1).tolist())
    assert best_matches(actual, 3, 2, k=2) == matches[:2]
    np.testing.assert_array_equal(head_matrix(Weights(b), Weights(a), alignment, 1, 0), actual.T)
    table = matches_table([Match(0.25, 1, 0, 3, 1)], ("BERT", "TinyBERT"))
    assert table.to_dict("records") == [
        {"BERT: layer": 2, "BERT: head": 1, "TinyBERT: layer": 4, "TinyBERT: head": 2, "divergence (bits)": 0.25}
    ]


def test_layers_match_by_relative_depth() -> None:
    def matching(n_a: int, n_b: int) -> list[int]:
        return [matching_layer(layer, n_a, n_b) for layer in range(n_a)]

    assert matching(12, 12) == list(range(12))
    assert matching(12, 6) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert matching(6, 12) == [0, 2, 4, 7, 9, 11]
    assert matching(3, 4) == [0, 2, 3]  # 1.5 goes up, as does every half
    assert (matching(4, 1), matching(1, 4)) == ([0] * 4, [3])
    with pytest.raises(ValueError, match="not on the same words"):
        jensen_shannon(maps(2, 3, 4), maps(2, 4, 5))
    with pytest.raises(ValueError, match="layer 3 of 3"):
        matching_layer(3, 3, 3)


def answer(*tokens: str) -> MaskPrediction:
    return MaskPrediction(1, tuple(Prediction(token, i, 1 / (i + 2)) for i, token in enumerate(tokens)), 0.0)


def test_a_token_reads_as_its_word() -> None:
    tokens = ["cat", "Ġcat", "▁cat", "Cat", "##ing", "café", "Ġ", "é", ".", "Ã"]
    assert [written(token) for token in tokens] == ["cat"] * 4 + ["##ing", "café", "", "é", ".", "ã"]
    # Byte-level tokens read as what was encoded, by the tokenizers library's own table of bytes.
    for word in ("café", "Zürich", "чай", "猫", "🍕", "naïve—yes"):
        [(token, _)] = ByteLevel(add_prefix_space=True, use_regex=False).pre_tokenize_str(word)
        assert token.startswith("Ġ")
        assert (readable(token), written(token)) == (word, word.casefold())
    assert [readable(token) for token in ("Ġ", "▁", "ĠShe", "##ing")] == ["Ġ", "▁", "She", "##ing"]


def test_agreement_by_hand() -> None:
    actual = agreement(answer("cat", "dog", "man"), answer("Ġdog", "ĠCat", "Ġsun"), 3)
    assert (actual.first, actual.shared, actual.overlap) == (False, ("cat", "dog"), pytest.approx(2 / 3))
    assert agreement(answer("cat", "dog"), answer("▁CAT", "▁sun"), 1).first
    assert agreement(answer("cat"), answer("dog"), 1).overlap == 0
    # A list agrees wholly with itself even with spellings in it.
    both = answer("The", "the", "a")
    assert agreement(both, both, 3) == agreement(both, both, 3)
    assert agreement(both, both, 3).overlap == 1
    for k in (0, 2):
        with pytest.raises(ValueError, match="cannot be compared"):
            agreement(answer("a"), answer("a", "b"), k)
    best = answer("Ġdog", "ĠCat").best
    assert (rank_of("cat", best), rank_of("sun", best)) == (2, None)
