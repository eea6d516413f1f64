"""Measures of heads by hand and against slow loops."""

from dataclasses import replace

import builders
import numpy as np
import pytest
import torch
from head_runs import BY_ALPHABET, cross_run, make_encoding, random_maps
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from analysis.head_measures import MEASURE_NAMES, SHARES, Marks, counted_keys, special_names
from analysis.heads import head_table

# [CLS] a b [SEP]; only the rows of a and b count.
BY_HAND = np.array([[[1, 0, 0, 0], [0.5, 0.25, 0.25, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]], np.full((4, 4), 0.25)])


def test_measures_by_hand() -> None:
    table = head_table([builders.run(make_encoding("a b"), BY_HAND)], BY_ALPHABET)
    assert (table.n_queries, table.n_texts, len(table)) == (2, 1, 2)
    measured = {
        "entropy": (1.5 + 1) / 2,
        "relative_entropy": (1.5 + 1) / 4,
        "spread": ((2**1.5 - 1) / 3 + 1 / 3) / 2,
        "distance": (0.5 + 0.25 + 0.5) / 2,
        "first": 0.25,
        "separator": 0.25,
        "delimiter": 0.5,
        "itself": (0.25 + 0.5) / 2,
        "previous": 0.25,
        "next": (0.25 + 0.5) / 2,
        "rare": 0.25,  # "b" comes last in the alphabet; only "a" can look at it from elsewhere
    }
    even = {"entropy": 2, "relative_entropy": 1, "spread": 1, "distance": 1, "delimiter": 0.5}
    for name, value in measured.items():
        assert getattr(table.measures, name)[0] == pytest.approx(value, abs=1e-6), name
        uniform = even.get(name, 0.25)
        assert getattr(table.uniform, name) == pytest.approx([uniform, uniform], abs=1e-6), name
        assert getattr(table.measures, name)[1] == pytest.approx(uniform, abs=1e-6), name
    for name in ("same_word", "pieces", "own_sentence", "other_sentence", "own_evenness"):
        assert np.isnan(getattr(table.measures, name)).all(), name
    assert table.lift("next") == pytest.approx([1.5, 1])
    # Rarity can be given.
    encoding = make_encoding("a b")
    frequency = {"a": 1, "b": 50}
    rarity = [0.0] * (max(encoding.ids) + 1)
    for token, id_ in zip(encoding.tokens, encoding.ids, strict=True):
        rarity[id_] = 1 / frequency.get(token, 1e-9)  # however rare, a special token is none
    table = head_table([builders.run(encoding, BY_HAND)], rarity)
    assert table.measures.rare[0] == 0  # "b" gives nothing to "a"


def test_pieces_words_and_sentences_by_hand() -> None:
    # 0 [CLS] 1 the 2 un 3 +do 4 [SEP] 5 The 6 [SEP]; "The" is "the" again.
    encoding = make_encoding("the un +do", "The")
    row = np.array([0.1, 0.1, 0.1, 0.2, 0.1, 0.3, 0.1])
    table = head_table([builders.run(encoding, np.tile(row, (2, 7, 1)))])
    expected = {
        "same_word": (0.3 + 0.1) / 2,
        "pieces": (0.2 + 0.1) / 2,
        "own_sentence": (3 * 0.4 + 0.3) / 4,
        "other_sentence": (3 * 0.3 + 0.4) / 4,
        "first": 0.1,
        "separator": 0.2,
        "delimiter": 0.3,
    }
    for name, value in expected.items():
        assert getattr(table.measures, name)[0] == pytest.approx(value, abs=1e-6), name
    inside = entropy([0.1, 0.1, 0.2], base=2)  # the three queries of A; B has one word and no choice
    assert table.measures.own_evenness[0] == pytest.approx((2**inside - 1) / 2, abs=1e-6)


def test_a_causal_model_is_measured_by_what_it_may_see() -> None:
    encoding = make_encoding("a b c d e f", special=False)
    even = np.tril(np.ones((6, 6)))
    even /= even.sum(axis=1, keepdims=True)
    sink = np.zeros((6, 6))
    sink[:, 0] = 1
    table = head_table([builders.run(encoding, np.stack([even, sink]))])
    assert np.isnan(table.measures.next).all()
    assert table.uniform.previous == pytest.approx([(1 / 2 + 1 / 3 + 1 / 4 + 1 / 5 + 1 / 6) / 5] * 2)
    assert table.measures.relative_entropy == pytest.approx([1, 0], abs=1e-6)
    assert table.measures.first[1] == 1
    assert np.isnan(table.measures.separator).all()
    assert table.labels == ("broad", "delimiter")


def test_attention_to_the_token_that_stands_for_the_text_is_not_called_a_separators() -> None:
    """XLNet ends a text with <sep> <cls>."""
    bert = make_encoding("a b")
    words, special = (0, 1, None, None), (False, False, True, True)
    xlnet = replace(bert, tokens=("a", "b", "<sep>", "<cls>"), ids=(0, 1, 2, 3), word_ids=words, special=special)
    to_cls = np.tile([0.1, 0.1, 0.2, 0.6], (1, 4, 1))
    table = head_table([builders.run(xlnet, to_cls)])
    assert table.measures.first == pytest.approx([0.6])
    assert table.measures.separator == pytest.approx([0.2])
    assert table.measures.delimiter == pytest.approx([0.8])
    assert special_names(xlnet) == {"first": "<cls>", "separator": "<sep>"}
    assert special_names(bert) == {"first": "[CLS]", "separator": "[SEP]"}
    assert special_names(make_encoding("a b", special=False)) == {"first": "first token"}
    t5 = replace(xlnet, tokens=("a", "b", "c", "</s>"), word_ids=(0, 1, 2, None), special=(False, False, False, True))
    assert special_names(t5) == {"separator": "</s>"}
    # A model without a token in front has no first.
    encoding = make_encoding("a b")
    drop_first = {
        name: getattr(encoding, name)[1:] for name in ("tokens", "ids", "word_ids", "offsets", "segment_ids", "special")
    }
    t5 = replace(encoding, **drop_first)
    table = head_table([builders.run(t5, random_maps(0, 2, 3))])
    assert np.isnan(table.measures.first).all()
    np.testing.assert_array_equal(table.measures.separator, table.measures.delimiter)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from("aabcdefg"), min_size=2, max_size=6),
    st.lists(st.sampled_from("aabcdefg"), min_size=2, max_size=5),
    st.integers(0, 2**32 - 1),
)
def test_measures_equal_a_slow_loop(first: list[str], second: list[str], seed: int) -> None:
    encoding = make_encoding(" ".join(first), " ".join(second))
    n = len(encoding)
    maps = random_maps(seed, 2, n)
    table = head_table([builders.run(encoding, np.concatenate([maps, np.full((1, n, n), 1 / n)]))], BY_ALPHABET)
    queries = [i for i in range(n) if not encoding.special[i]]
    rarest = max(encoding.ids[i] for i in queries)
    counts_to = {
        "first": lambda _i, j: j == 0,
        "separator": lambda _i, j: encoding.special[j] and j > 0,
        "delimiter": lambda _i, j: encoding.special[j],
        "itself": lambda i, j: i == j,
        "previous": lambda i, j: j == i - 1,
        "next": lambda i, j: j == i + 1,
        "same_word": lambda i, j: j != i and encoding.tokens[i] == encoding.tokens[j],
        "pieces": lambda _i, _j: False,
        "own_sentence": lambda i, j: j in queries and encoding.segment_ids[i] == encoding.segment_ids[j],
        "other_sentence": lambda i, j: j in queries and encoding.segment_ids[i] != encoding.segment_ids[j],
        "rare": lambda i, j: j != i and j in queries and encoding.ids[j] == rarest,
    }
    assert counts_to.keys() == SHARES.keys() - {"rare_listed"}
    for head, weights in enumerate(maps):
        bits = np.mean([entropy(weights[i], base=2) for i in queries])
        distance = np.mean([sum(weights[i, j] * abs(i - j) for j in range(n)) for i in queries])
        assert table.measures.entropy[head] == pytest.approx(bits, abs=1e-4)
        assert table.measures.distance[head] == pytest.approx(distance, abs=1e-4)
        for share, counts in counts_to.items():
            keys = {i: [j for j in range(n) if counts(i, j)] for i in queries}
            inputs = [weights[i, row].sum() for i, row in keys.items() if row]
            even = [len(row) / n for row in keys.values() if row]
            result, uniform = getattr(table.measures, share)[head], getattr(table.uniform, share)[head]
            assert result == pytest.approx(np.mean(inputs) if inputs else np.nan, abs=1e-5, nan_ok=True), share
            assert uniform == pytest.approx(np.mean(even) if even else np.nan, abs=1e-5, nan_ok=True), share


def test_several_texts_weigh_by_their_queries() -> None:
    short, long = make_encoding("a b"), make_encoding("a c d e b", "e a")
    runs = [
        builders.run(encoding, random_maps(7, 3, len(encoding)), random_maps(8, 3, len(encoding)))
        for encoding in (short, long)
    ]
    both, entry, other = head_table(iter(runs)), head_table(runs[:1]), head_table(runs[1:])
    assert (both.n_queries, both.n_texts) == (9, 2)
    for name in ("entropy", "distance", "previous", "delimiter", "itself"):
        expected = (2 * getattr(entry.measures, name) + 7 * getattr(other.measures, name)) / 9
        np.testing.assert_allclose(getattr(both.measures, name), expected, rtol=1e-6)
    # Only the second text has two sentences and a word that occurs again.
    np.testing.assert_array_equal(both.measures.same_word, other.measures.same_word)
    np.testing.assert_array_equal(both.measures.other_sentence, other.measures.other_sentence)
    assert both.layer.tolist() == [0, 0, 0, 1, 1, 1]
    assert both.head.tolist() == [0, 1, 2, 0, 1, 2]


def test_cross_attention_has_the_measures_that_mean_something_by_hand() -> None:
    # [CLS] b a (written) looks at [CLS] a b c [SEP] (read).
    maps = np.array(
        [[[1, 0, 0, 0, 0], [0.25, 0, 0.5, 0, 0.25], [0, 0.5, 0, 0.25, 0.25]], [[0.2] * 5, [0.2] * 5, [0.2] * 5]]
    )
    table = head_table([cross_run("a b c", "b a", maps)], rarity=[0, 0, 1, 2, 9])
    measures = table.measures
    for name in ("distance", "itself", "previous", "next", "pieces", "own_sentence", "other_sentence", "own_evenness"):
        assert np.isnan(getattr(measures, name)).all(), name
    # Means over the rows of b and a; the even head gives a fifth to everything.
    np.testing.assert_allclose(measures.first, [0.125, 0.2], atol=1e-6)
    np.testing.assert_allclose(measures.separator, [0.25, 0.2], atol=1e-6)
    np.testing.assert_allclose(measures.delimiter, [0.375, 0.4], atol=1e-6)
    np.testing.assert_allclose(measures.same_word, [0.5, 0.2], atol=1e-6)
    np.testing.assert_allclose(measures.entropy, [1.5, np.log2(5)], atol=1e-6)
    assert table.n_queries == 2
    assert table.labels[1] == "broad"


def test_tensors_are_summed_up_as_arrays_are() -> None:
    """Two sentences, where the own one's evenness counts, too."""
    marks = Marks.build([make_encoding("a b c d", "c a b"), make_encoding("a b", "c d e")], [None] * 2, [None] * 2)
    n = marks.real.shape[1]
    weights = np.stack([random_maps(seed, 3, n) for seed in range(2)]).astype(np.float32) * marks.real[:, None, None]
    norms = np.random.default_rng(0).random((2, 3, n), dtype=np.float32)
    of_arrays = counted_keys(marks, marks).sums(weights, norms)
    of_tensors = counted_keys(marks, marks).sums(torch.from_numpy(weights), torch.from_numpy(norms))
    assert of_arrays.counts[:, MEASURE_NAMES.index("own_evenness")].min() > 0
    for name in ("sums", "counts", "chance", "by_value"):
        np.testing.assert_allclose(getattr(of_tensors, name), getattr(of_arrays, name), rtol=1e-6, atol=1e-6)


def test_layers_measured_side_by_side_do_not_see_each_others_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads measure layers of which one lets tokens see fewer keys (ModernBERT's windows): each gets its own
    numbers, whenever the other comes in between.
    """
    encodings = [make_encoding("a b c d")]
    marks = Marks.build(encodings, [None], [None])
    n = len(encodings[0])
    everywhere, near = np.ones((1, n, n), dtype=bool), (np.abs(np.subtract.outer(range(n), range(n))) <= 1)[None]
    counted = counted_keys(marks, marks)
    maps = np.zeros((1, 1, n, n), dtype=np.float32)
    expected = counted._visible(everywhere, maps).keys.copy()
    compare = np.array_equal

    def the_other_comes_in(entry: object, other: object) -> bool:
        actual = compare(entry, other)  # type: ignore[arg-type]
        if actual:
            monkeypatch.undo()
            counted._visible(near, maps)
        return actual

    monkeypatch.setattr(np, "array_equal", the_other_comes_in)
    np.testing.assert_equal(counted._visible(everywhere, maps).keys, expected)
