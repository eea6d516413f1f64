"""All heads ranked by one share of their attention: numbers by hand, against whole matrices, and on the real model."""

import builders
import numpy as np
import pytest
from head_runs import cross_run, make_encoding, random_maps

from analysis import findings
from analysis.heads import head_table
from analysis.words import Unit, merge, word_units
from model_zoo import Engine
from model_zoo.types import AttentionRun, FloatArray, MapsLayer

DEFAULT = "The cat sat on the mat because it was tired."


def unit(run: AttentionRun, label: str) -> Unit:
    return next(unit for unit in word_units(run.encoding) if unit.label == label)


def pieces() -> AttentionRun:
    """[CLS] un ##kind cats ran [SEP], two layers of two heads."""
    return builders.run(make_encoding("un +kind cats ran"), random_maps(1, 2, 6), random_maps(2, 2, 6))


def test_a_word_of_pieces_is_a_mean_over_its_queries_and_a_sum_over_its_keys() -> None:
    run = pieces()
    unkind, ran = unit(run, "unkind"), unit(run, "ran")
    assert (unkind.start, unkind.stop) == (1, 3)
    attention = findings.rank_for_words(run, unkind, ran)
    by_hand = [(run.head(layer, head)[1, 4] + run.head(layer, head)[2, 4]) / 2 for layer in (0, 1) for head in (0, 1)]
    np.testing.assert_allclose(attention.share, by_hand, rtol=1e-6)
    np.testing.assert_allclose(attention.even, 1 / 6)
    back = findings.rank_for_words(run, ran, unkind)
    by_hand = [run.head(layer, head)[4, 1:3].sum() for layer in (0, 1) for head in (0, 1)]
    np.testing.assert_allclose(back.share, by_hand, rtol=1e-6)
    np.testing.assert_allclose(back.even, 2 / 6)
    # Every pair is what merging the whole matrix gives.
    units = word_units(run.encoding)
    merged = np.stack([merge(run.layer(layer), units) for layer in range(run.n_layers)]).reshape(4, len(units), -1)
    for q, query in enumerate(units):
        for k, key in enumerate(units):
            np.testing.assert_allclose(findings.rank_for_words(run, query, key).share, merged[:, q, k], rtol=1e-6)


def test_best_above_map_and_table() -> None:
    finding = findings.Ranking(
        layer=np.array([0, 0, 1]),
        head=np.array([0, 1, 0]),
        share=np.array([0.25, 0.75, np.nan]),
        even=np.array([0.5, 0.5, np.nan]),
    )
    assert list(finding.best(2)) == [1, 0]
    assert list(finding.best(9)) == [1, 0, 2]
    assert (finding.above(0.25), finding.above(0.2)) == (1, 2)
    np.testing.assert_array_equal(finding.by_layer(), [[0.25, 0.75], [np.nan, np.nan]])
    table = finding.to_frame()
    assert list(table["share"])[:2] == [0.75, 0.25]
    assert list(zip(table["layer"], table["head"], strict=True)) == [(0, 1), (0, 0), (1, 0)]


def test_places_are_those_of_the_table() -> None:
    table = head_table([pieces()])
    ranking = findings.rank_by_share(table, "previous")
    assert ranking.defined
    np.testing.assert_array_equal(ranking.share, table.measures.previous)
    np.testing.assert_array_equal(ranking.even, table.uniform.previous)
    assert not findings.rank_by_share(table, "other_sentence").defined
    # Nobody looks at what comes later in a model that looks back.
    lower = np.tril(np.ones((1, 4, 4), dtype=np.float32))
    run = builders.run(make_encoding("a b c d", special=False), lower / lower.sum(axis=-1, keepdims=True))
    b, c = unit(run, "b"), unit(run, "c")
    later, earlier = findings.rank_for_words(run, b, c), findings.rank_for_words(run, c, b)
    assert not later.defined
    assert not findings.sees_later(run, b)
    assert earlier.defined
    np.testing.assert_allclose(earlier.share, 1 / 3, rtol=1e-6)
    np.testing.assert_allclose(earlier.even, 1 / 3)  # of the three tokens that c sees
    assert findings.sees_later(pieces(), unit(pieces(), "cats"))


def strongest(run: AttentionRun) -> tuple[str, str]:
    query, key = findings.pair_worth_seeing(run)
    return word_units(run.encoding)[query].label, word_units(run.key_encoding)[key].label


def maps(n: int, *weights: tuple[int, int, float]) -> FloatArray:
    actual = np.full((1, n, n), 0.01, dtype=np.float32)
    for query, key, weight in weights:
        actual[0, query, key] = weight
    return actual


def test_a_pair_worth_seeing_is_of_two_different_words_apart() -> None:
    """Not a word and itself elsewhere, its neighbour, a special token or a full stop, however strong."""
    encoding = make_encoding("the cat saw the dog .")
    strong = [(1, 4, 0.9), (2, 3, 0.9), (2, 7, 0.9), (5, 6, 0.9), (2, 6, 0.9), (3, 3, 0.9)]
    run = builders.run(encoding, maps(8), maps(8, *strong, (5, 2, 0.5), (2, 5, 0.4)))
    assert strongest(run) == ("dog", "cat")
    # What is worth seeing where there is little.
    assert strongest(builders.run(make_encoding("a b"), maps(4, (1, 2, 0.5)))) == ("a", "b")
    assert strongest(builders.run(make_encoding("a"), maps(3, (1, 2, 0.5), (0, 0, 0.3)))) == ("a", "[SEP]")
    between_texts = cross_run("x y z", "a b", np.full((1, 3, 5), 0.2, dtype=np.float32))
    assert strongest(between_texts) == ("a", "x")
    # A long text is looked through at its beginning.
    run = builders.run(
        make_encoding(" ".join(f"w{place}" for place in range(98))), maps(100, (90, 80, 0.9), (7, 3, 0.1))
    )
    assert strongest(run) == ("w6", "w2")
    one_word = builders.run(make_encoding("w0 " + "+x " * 60), maps(63))
    assert strongest(one_word) == ("[CLS]", "[CLS]")


def test_a_ranking_computes_only_its_own_rows() -> None:
    questions = []

    class Watched(MapsLayer):
        def weights(self, head: int | slice, queries: slice = slice(None)) -> FloatArray:
            questions.append(queries)
            return super().weights(head, queries)

    run = pieces()
    watched = builders.run(run.encoding, *(Watched(run.layer(layer)) for layer in range(2)))
    findings.rank_for_words(watched, unit(run, "cats"), unit(run, "ran"))
    assert questions == [slice(3, 4), slice(3, 4)]


def test_in_the_default_text_a_head_of_layer_2_looks_from_it_to_cat(engine: Engine) -> None:
    """The example that the page opens with, as the example “Where does “it” look?” has it."""
    run = engine.attend("embedded/bert", DEFAULT)
    attention = findings.rank_for_words(run, unit(run, "it"), unit(run, "cat"))
    best = int(attention.best(1)[0])
    assert (attention.layer[best], attention.head[best]) == (1, 3)
    assert attention.share[best] > 0.5 > 5 * attention.even[best]
    assert attention.share[best] == pytest.approx(run.head(1, 3)[8, 2])
    assert attention.even[best] == pytest.approx(1 / 13)
    ranking = findings.rank_by_share(head_table([engine.attend("embedded/bert", DEFAULT)]), "previous")
    best = int(ranking.best(1)[0])
    weights = engine.attend("embedded/bert", DEFAULT).head(int(ranking.layer[best]), int(ranking.head[best]))
    by_hand = np.diagonal(weights, -1)[:11].mean()  # the eleven tokens that are not special
    assert ranking.share[best] == pytest.approx(by_hand, abs=1e-6)
    assert by_hand > 0.9
