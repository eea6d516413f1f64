"""Filters on hand-made attention: directions, special tokens, words, threshold, top-k, heads put together."""

from dataclasses import replace
from typing import Any

import builders
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FILTERS

from analysis.filters import COMBINATIONS, DIRECTIONS, Filter, apply_filter, combine, norm_of_sum
from analysis.views import Norms, Weights
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun

# [CLS] un ##do [SEP] it [SEP]
PAIR = builders.encoding(["un", "##do"], ["it"], ids=(101, 1, 2, 102, 3, 102))
SINGLE = builders.encoding(["un", "##do", "it"], ids=(101, 1, 2, 3, 102))
# Rows of PAIR; sixteenths, so that float32 sums are exact.
WEIGHTS = np.array([[16, 0, 0, 0, 0, 0], [4, 1, 3, 4, 2, 2], [0, 5, 1, 2, 8, 0],
                    [0, 0, 0, 8, 0, 8], [2, 3, 5, 0, 4, 2], [4, 4, 4, 4, 0, 0]], dtype=np.float32) / 16  # fmt: skip


def test_no_filter_shows_everything() -> None:
    seen = apply_filter(PAIR, WEIGHTS, Filter())
    np.testing.assert_array_equal(seen.weights, WEIGHTS)
    assert seen.query_labels == seen.key_labels == PAIR.tokens
    assert (seen.n_hidden_special, seen.n_below_threshold, seen.n_beyond_top_k) == (0, 0, 0)
    assert (seen.share_hidden, seen.share_cut, seen.reason) == (0, 0, None)
    assert seen.summary() == "All attention is shown."
    # The four directions reassemble the whole.
    weights = builders.random_maps(0, 2, 6, 6)
    part = {noun: apply_filter(PAIR, weights, Filter(direction=noun)).weights for noun in DIRECTIONS}
    top = np.concatenate([part["A->A"], part["A->B"]], axis=-1)
    bottom = np.concatenate([part["B->A"], part["B->B"]], axis=-1)
    np.testing.assert_array_equal(np.concatenate([top, bottom], axis=-2), weights)
    np.testing.assert_array_equal(part["all"], weights)
    # Within the only sentence is everything.
    weights = builders.random_maps(3, 2, 5, 5)
    np.testing.assert_array_equal(apply_filter(SINGLE, weights, Filter(direction="A->A")).weights, weights)


def test_a_direction_by_hand() -> None:
    seen = apply_filter(PAIR, WEIGHTS, Filter(direction="B->A", hide_special=True))
    assert (seen.query_labels, seen.key_labels) == (("it",), ("un", "##do"))
    np.testing.assert_array_equal(seen.weights, [[3 / 16, 5 / 16]])
    assert [unit.segment for unit in (*seen.queries, *seen.keys)] == [1, 0, 0]
    assert seen.n_hidden_special == 3
    assert seen.share_hidden == 0.5
    assert all(part in seen.summary() for part in ("sentence B attends to sentence A", "3 special", "50.0%"))
    scaled = apply_filter(PAIR, WEIGHTS, Filter(direction="B->A", hide_special=True, renormalize=True))
    np.testing.assert_array_equal(scaled.weights, [[3 / 8, 5 / 8]])
    assert scaled.share_hidden == 0.5
    cut = apply_filter(PAIR, WEIGHTS, Filter(direction="B->A", hide_special=True, renormalize=True, threshold=0.6))
    np.testing.assert_array_equal(cut.weights, [[0, 5 / 8]])
    assert cut.share_cut == 3 / 8
    # A row with nothing left stays zero and is counted.
    seen = apply_filter(PAIR, WEIGHTS, Filter(direction="A->B", renormalize=True))
    np.testing.assert_array_equal(seen.weights, [[0, 0], [0.5, 0.5], [1, 0], [0, 1]])
    assert seen.n_silent == 1


def test_words_come_first() -> None:
    # "undo" gives "it" (2 + 8) / 2 = 5 sixteenths, "it" gives "undo" 3 + 5 = 8.
    # Tokens would lose "un" -> "it" (2) to this threshold.
    seen = apply_filter(PAIR, WEIGHTS, Filter(words=True, hide_special=True, threshold=5 / 16))
    assert seen.query_labels == ("undo", "it")
    assert [(unit.start, unit.stop) for unit in seen.keys] == [(1, 3), (4, 5)]
    np.testing.assert_array_equal(seen.weights, np.array([[5, 5], [8, 0]]) / 16)
    assert (seen.n_below_threshold, seen.share_cut) == (1, pytest.approx(4 / 22))
    assert seen.share_hidden == pytest.approx(1 - 22 / 32)
    assert "1 cell below 0.3125, 18.2%" in seen.summary()
    # Threshold then top k are counted apart.
    seen = apply_filter(PAIR, WEIGHTS, Filter(threshold=3 / 16, top_k=1))
    expected = np.zeros((6, 6))
    for query, (key, weight) in enumerate([(0, 16), (0, 4), (4, 8), (3, 8), (2, 5), (0, 4)]):
        expected[query, key] = weight / 16  # of equal weights the earlier key
    np.testing.assert_array_equal(seen.weights, expected)
    # Below 3/16: 1 2 2 in the second row, 1 2 in the third, 2 2 in the fifth.
    # What is left: 16 | 4 3 4 | 5 8 | 8 8 | 3 5 4 | 4 4 4 4.
    assert (seen.n_below_threshold, seen.n_beyond_top_k) == (7, 9)
    assert seen.share_cut == pytest.approx(1 - (16 + 4 + 8 + 8 + 5 + 4) / 96)
    assert "7 cells below 0.1875 and 9 cells" in seen.summary()
    # Identical sentences keep their places.
    chosen = Filter(direction="A->B", hide_special=True, words=True)
    seen = apply_filter(builders.encoding(["it"], ["it"]), WEIGHTS[:5, :5], chosen)
    assert (seen.query_labels, seen.key_labels) == (("it",), ("it",))
    assert (seen.queries[0].start, seen.keys[0].start) == (1, 3)
    np.testing.assert_array_equal(seen.weights, [[4 / 16]])


def test_what_leaves_nothing_says_so() -> None:
    seen = apply_filter(PAIR, WEIGHTS, Filter(threshold=1))
    assert np.flatnonzero(seen.weights).tolist() == [0]
    assert seen.reason is None
    rounded = apply_filter(PAIR, WEIGHTS * np.float32(1 - 2**-23), Filter(threshold=1))
    assert np.flatnonzero(rounded.weights).tolist() == [0]
    # A threshold above every cell leaves a sentence.
    seen = apply_filter(PAIR, WEIGHTS[:, ::-1] * 0.5, Filter(threshold=1))
    assert not seen.weights.any()
    assert "the strongest cell holds 0.500, the threshold is 1." in seen.summary()
    # Every token hidden is an empty view with a reason.
    encoding = replace(SINGLE, special=(True,) * 5)
    seen = apply_filter(
        encoding, builders.random_maps(1, 2, 5, 5), Filter(hide_special=True, renormalize=True, top_k=2)
    )
    assert seen.weights.shape == (2, 0, 0)
    assert seen.n_hidden_special == 5
    assert "all tokens here are special" in str(seen.reason)
    # Attention that never goes there is said.
    causal = np.tril(np.ones((6, 6), dtype=np.float32))
    seen = apply_filter(PAIR, causal, Filter(direction="A->B"))
    assert seen.share_hidden == 1
    assert "no attention in this part" in str(seen.reason)


@pytest.mark.parametrize("words", [False, True])
def test_one_token_only(words: bool) -> None:
    encoding = builders.encoding(["hi"], front=None, end=None)
    chosen = Filter(direction="A->A", hide_special=True, renormalize=True, threshold=1, top_k=3, words=words)
    seen = apply_filter(encoding, np.ones((1, 1), dtype=np.float32), chosen)
    np.testing.assert_array_equal(seen.weights, [[1]])
    assert seen.reason is None


def test_no_tokens_at_all() -> None:
    nothing = builders.anonymous(0)
    seen = apply_filter(nothing, np.zeros((0, 0), dtype=np.float32), Filter(words=True, top_k=1))
    assert seen.summary() == "The text has no tokens. Type a word or a sentence."
    with pytest.raises(ValueError, match="do not fit 5 queries and 5 keys"):
        apply_filter(SINGLE, WEIGHTS, Filter())
    same = replace(SINGLE)
    with pytest.raises(InvalidInput, match="Cross-attention"):
        apply_filter(SINGLE, builders.random_maps(0, 2, 5, 5), Filter(direction="A->A"), same)


def test_a_direction_without_a_second_sentence_and_filters_out_of_range_are_refused() -> None:
    weights = builders.random_maps(2, 2, 5, 5)
    for noun in (direction for direction in DIRECTIONS if "B" in direction):
        with pytest.raises(InvalidInput, match="needs a second sentence, and there is none"):
            apply_filter(SINGLE, weights, Filter(direction=noun))
        with pytest.raises(InvalidInput, match="cut off entirely at the model's limit"):
            apply_filter(replace(SINGLE, text_pair="a second one", n_dropped=4), weights, Filter(direction=noun))
    thresholds = [("threshold", wrong) for wrong in (1.1, np.nan, -1)]
    for name, wrong in (("direction", "C->A"), ("top_k", 0), *thresholds):
        with pytest.raises(InvalidInput, match="Choose"):
            Filter(**{name: wrong})


@given(FILTERS, st.integers(0, 2**32 - 1))
def test_every_filter_equals_the_slow_way_and_adds_up(chosen: Filter, seed: int) -> None:
    weights = builders.random_maps(seed, 2, 6, 6)
    before = weights.copy()
    seen = apply_filter(PAIR, weights, chosen)
    np.testing.assert_array_equal(weights, before)  # what was given is left alone
    filtered = apply_filter(PAIR, weights, Filter(words=chosen.words))
    at = {unit: index for index, unit in enumerate(filtered.keys)}
    kept = below = beyond = 0
    for head, head_weights_ in enumerate(seen.weights):
        for query, row in zip(seen.queries, head_weights_, strict=True):
            cells = [float(filtered.weights[head, at[query], at[key]]) for key in seen.keys]
            if chosen.renormalize:
                cells = [cell / sum(cells) for cell in cells]
            passed = [cell if cell >= chosen.threshold - 1e-6 else 0 for cell in cells]
            below += passed.count(0)
            best = sorted(range(len(cells)), key=lambda index: -passed[index])[: chosen.top_k]
            final = [cell if index in best else 0 for index, cell in enumerate(passed)]
            beyond += final.count(0) - passed.count(0)
            np.testing.assert_allclose(row, final, atol=1e-6)
            kept += len(final) - final.count(0)
    assert (seen.n_below_threshold, seen.n_beyond_top_k) == (below, beyond)
    assert kept == np.count_nonzero(seen.weights)
    assert kept + below + beyond == seen.weights.size
    assert 0 <= seen.share_hidden <= 1
    assert 0 <= seen.share_cut <= 1
    assert seen.summary().endswith(".")


def make_run(n_layers: int = 2, n_heads: int = 3) -> AttentionRun:
    return builders.run(PAIR, *(builders.random_maps(10 + layer, n_heads, 6, 6) for layer in range(n_layers)))


def make_value_run() -> AttentionRun:
    """One layer, two heads, even attention; ‖f(x)‖ is 1, 2, ... in head 0, three times that in head 1."""
    layer = builders.even_layer(np.broadcast_to(np.arange(1, 7)[:, None], (2, 6, 1)))
    return builders.run(PAIR, layer, output_projections=(np.array([[[1]], [[-3]]], dtype=np.float32),))


@pytest.mark.parametrize("how", [how for how in COMBINATIONS if how != "norm"])
def test_heads_put_together_equal_numpy_on_the_stack(how: Any) -> None:
    run = make_run()
    heads = [(1, 2), (0, 0), (1, 0), (0, 0)]
    stack = np.stack([run.head(1, 2), run.head(0, 0), run.head(1, 0)])
    np.testing.assert_allclose(combine(Weights(run), heads, how), getattr(np, how)(stack, axis=0), atol=1e-7)
    everything = [(layer, head) for layer in range(2) for head in range(3)]
    stack = np.concatenate([run.layer(0), run.layer(1)])
    np.testing.assert_allclose(combine(Weights(run), everything, how), getattr(np, how)(stack, axis=0), atol=1e-6)


def test_the_norm_of_the_sum_is_not_the_sum_of_the_norms() -> None:
    """f(x) is 1, 2, ... in head 0 and three times that, the other way, in head 1; all weights are 1/6."""
    run = make_value_run()
    row = np.arange(1, 7) / 6
    norm = norm_of_sum(run, [(0, 1), (0, 0), (0, 1)])
    np.testing.assert_allclose(norm, np.tile(2 * row, (6, 1)), rtol=1e-6)
    np.testing.assert_allclose(combine(Norms(run), [(0, 0), (0, 1)], "sum"), np.tile(4 * row, (6, 1)), rtol=1e-6)
    np.testing.assert_allclose(norm_of_sum(run, [(0, 1)]), np.tile(3 * row, (6, 1)), rtol=1e-6)
    with pytest.raises(InvalidInput, match=r"belongs to a layer.*Choose heads of one layer"):
        norm_of_sum(make_run(), [(0, 0), (1, 0)])
    with pytest.raises(InvalidInput, match="and no"):
        norm_of_sum(make_value_run(), [(0, 0), (0, 2)])
    with pytest.raises(NotSupported):
        norm_of_sum(make_run(), [(0, 0)])
    # Norms that are scaled are shares.
    combined = combine(Norms(make_value_run()), [(0, 0), (0, 1)], "mean")
    scaled = apply_filter(PAIR, combined, Filter(renormalize=True)).weights
    np.testing.assert_allclose(scaled, np.tile(np.arange(1, 7) / 21, (6, 1)), rtol=1e-6)


def test_no_heads_and_heads_that_do_not_exist_are_refused() -> None:
    for nothing in (lambda run: combine(Weights(run), [], "mean"), lambda run: norm_of_sum(run, [])):
        with pytest.raises(InvalidInput, match="All heads are switched off"):
            nothing(make_run())
    for head in ((2, 0), (0, 3), (-1, 0), (0, -1)):
        with pytest.raises(InvalidInput, match="and no"):
            combine(Weights(make_run()), [(0, 0), head], "max")


# The decoder's <pad> it un ##do looks at the encoder's [CLS] un ##do it [SEP]; sixteenths again.
WRITTEN = builders.encoding(["it", "un", "##do"], front="<pad>", end=None, ids=(0, 3, 1, 2))
CROSS = np.array([[16, 0, 0, 0, 0], [2, 1, 1, 8, 4], [0, 6, 2, 4, 4], [4, 4, 8, 0, 0]], dtype=np.float32) / 16


def test_cross_attention_has_other_rows_than_columns() -> None:
    seen = apply_filter(WRITTEN, CROSS, Filter(), SINGLE)
    np.testing.assert_array_equal(seen.weights, CROSS)
    assert (seen.query_labels, seen.key_labels) == (WRITTEN.tokens, SINGLE.tokens)
    assert seen.summary() == "All attention is shown."
    # Cross attention between words by hand.
    seen = apply_filter(WRITTEN, CROSS, Filter(words=True, hide_special=True), SINGLE)
    # Columns "undo" and "it": sums of two keys and of one; row "undo": the mean of its two tokens.
    np.testing.assert_array_equal(seen.weights, np.array([[2, 8], [(8 + 12) / 2, (4 + 0) / 2]], dtype=np.float32) / 16)
    assert (seen.query_labels, seen.key_labels) == (("it", "undo"), ("undo", "it"))
    assert seen.n_hidden_special == 3
    # Of the 32 sixteenths of these rows (16 + a mean of 16) 22 are shown.
    assert seen.share_hidden == pytest.approx(10 / 32)
    # Cross attention top k and scale by hand.
    seen = apply_filter(WRITTEN, CROSS, Filter(hide_special=True, renormalize=True, top_k=1), SINGLE)
    np.testing.assert_allclose(seen.weights, [[0, 0, 8 / 10], [6 / 12, 0, 0], [0, 8 / 12, 0]])
    # Heads of cross attention put together.
    run = builders.run(WRITTEN, np.stack([CROSS, CROSS[:, ::-1]]), stack="cross", source=SINGLE)
    assert (run.n_tokens, run.n_keys) == (4, 5)
    np.testing.assert_array_equal(combine(Weights(run), [(0, 0), (0, 1)], "max"), np.maximum(CROSS, CROSS[:, ::-1]))
    for noun in (direction for direction in DIRECTIONS if direction != "all"):
        with pytest.raises(InvalidInput, match=r"from the decoder's text to the encoder's.*Show all attention"):
            apply_filter(WRITTEN, CROSS, Filter(direction=noun), SINGLE)
