"""Sentences as vectors: pooling by hand, cosines against scikit-learn and scipy, agreement against scipy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import builders
import numpy as np
import pytest
from scipy.spatial.distance import cosine
from scipy.stats import bootstrap, spearmanr
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity

from analysis import sentence_vectors as vectors
from analysis.intervals import wilson
from model_zoo import Engine
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, HiddenStates, read_only

TEXTS = ["A cat.", "The old bridge over the river was closed for two years.", "It rains."]


def states(values: list[list[float]], encoding: Encoding | None = None) -> HiddenStates:
    """One layer of tokens, [CLS] first and [SEP] last where nothing else is said."""
    return HiddenStates(
        encoding=encoding or builders.encoding(["a"] * (len(values) - 2)),
        states=read_only(np.array([values], dtype=np.float32)),
    )


def test_a_sentence_is_its_first_token_or_the_mean_or_maximum_of_its_own() -> None:
    one, other = states([[9, 9], [1, 2], [3, 8], [7, 7]]), states([[4, 4], [5, 6], [0, 0]])
    found = vectors.sentence_vectors(iter([(1, other), (0, one)]), 2)
    assert found.of["cls"].tolist() == [[[9, 9], [4, 4]]]
    assert found.of["mean"].tolist() == [[[2, 5], [5, 6]]]
    assert found.of["max"].tolist() == [[[3, 8], [5, 6]]]
    assert found.n_dropped == (0, 0)


def test_without_cls_it_is_the_first_token_and_said_to_be_none() -> None:
    bare = builders.encoding(["a", "b"], front=None, end=None)
    assert vectors.sentence_vectors([(0, states([[1, 2], [3, 8]], bare))], 1).of["cls"].tolist() == [[[1, 2]]]
    assert vectors.summary_token(bare) is None
    assert vectors.summary_token(builders.encoding(["a"], front="<s>", end="</s>")) == "<s>"
    typed = builders.encoding(["[CLS]", "a"], front=None, end=None)
    assert vectors.summary_token(typed) is None  # a word that somebody typed


def test_a_sentence_without_a_token_is_named_and_what_is_cut_is_counted() -> None:
    with pytest.raises(InvalidInput, match="Sentence 2 has no token that this model reads"):
        vectors.sentence_vectors([(0, states([[1], [1], [1]])), (1, states([[1], [1]]))], 2)
    with pytest.raises(InvalidInput, match="The query has no token"):
        vectors.sentence_vectors([(0, states([[1], [1]]))], 1, "The query")
    cut = states([[1], [1], [1]], builders.encoding(["a"], n_dropped=7))
    assert vectors.sentence_vectors([(0, cut)], 1).n_dropped == (7,)


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "xlnet", "t5", "modernbert"])
def test_vectors_are_those_of_a_text_by_itself(family: str, engine: Engine, checkpoint: Callable[[str], Path]) -> None:
    """Padding does not count: together in batches, and one by one with the pooling written out."""
    model = str(checkpoint(family))
    together = vectors.sentence_vectors(engine.iter_hidden_states(model, TEXTS), len(TEXTS))
    for place, text in enumerate(TEXTS):
        alone = engine.encoded_states(model, text)
        special = alone.encoding.special
        own = [token for token in range(len(alone.encoding)) if not special[token]]
        summary = {"gpt2": 0, "t5": 0, "xlnet": len(alone.encoding) - 1}.get(family, 0)
        for layer in range(len(alone.states)):
            here = alone.states[layer].astype(np.float64)
            expected = {"cls": here[summary], "mean": sum(here[t] for t in own) / len(own), "max": here[own].max(0)}
            for pooling, one in expected.items():
                np.testing.assert_allclose(together.of[pooling][layer, place], one, atol=2e-5)  # type: ignore[index]


def test_cosines_are_those_of_sklearn_and_scipy() -> None:
    own = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    own[3] = 0
    found = vectors.cosines(own)
    np.testing.assert_allclose(found, cosine_similarity(own), atol=1e-6)
    assert found[0, 1] == pytest.approx(1 - cosine(own[0], own[1]), abs=1e-6)
    np.testing.assert_allclose(vectors.pair_cosines(own[:3], own[4:]), np.diag(found[:3, 4:]), atol=1e-6)
    assert vectors.mean_of_pairs(own) == pytest.approx(cosine_similarity(own)[~np.eye(7, dtype=bool)].mean(), abs=1e-6)
    assert vectors.nearest(np.array([[1, 0.2, 0.7], [0.2, 1, 0], [0.7, 0, 1]]), 0) == [2, 1]


def test_what_all_share_is_their_mean_and_first_component() -> None:
    rng = np.random.default_rng(0)
    reference = (rng.normal(size=(60, 6)) * [9, 1, 1, 1, 1, 1] + [5, 5, 0, 0, 0, 0]).astype(np.float32)
    shared = vectors.shared_by(reference)
    pca = PCA(1).fit(reference)
    np.testing.assert_allclose(np.abs(shared.directions), np.abs(pca.components_), atol=1e-5)
    removed = shared.removed(reference)
    np.testing.assert_allclose(removed.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(removed @ pca.components_.T, 0, atol=1e-4)
    assert abs(vectors.mean_of_pairs(removed)) < 0.05 < vectors.mean_of_pairs(reference)


def test_of_vectors_that_are_all_the_same_nothing_is_left() -> None:
    """Rounding is: its direction would be taken for that of a sentence."""
    same = np.tile(np.random.default_rng(0).normal(size=300).astype(np.float32), (7, 1))
    same[::2] = np.nextafter(same[::2], np.float32(9))
    assert not vectors.shared_by(same).removed(same).any()
    assert vectors.mean_of_pairs(vectors.shared_by(same).removed(same)) == 0


@pytest.mark.slow
def test_agreement_is_scipys_spearman_with_an_interval_like_that_of_its_bootstrap() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(6, size=80).astype(float)
    noise = rng.normal(size=(3, 80))
    told = np.stack([gold + 2 * noise[0], noise[1] - gold, noise[2]]).astype(np.float32)
    told[2] = told[2].round()  # ties in both
    found = vectors.agreement(told, list(gold), [str(pair) for pair in range(80)])
    for row, (rho, low, high) in zip(told, found, strict=True):
        assert rho == pytest.approx(spearmanr(row, gold).statistic, abs=1e-9)
        ends = bootstrap(
            (row, gold), lambda a, b: spearmanr(a, b).statistic, paired=True, vectorized=False, n_resamples=1000,
            method="percentile", rng=np.random.default_rng(1),
        ).confidence_interval  # fmt: skip
        assert (low, high) == pytest.approx((ends.low, ends.high), abs=0.05)


def test_pairs_of_one_group_count_together() -> None:
    """Six times the same pairs say no more than once."""
    rng = np.random.default_rng(0)
    gold = rng.integers(6, size=20).astype(float)
    told = (gold + rng.normal(size=20) * 2)[None].astype(np.float32)
    names = [str(pair) for pair in range(20)]
    once = vectors.agreement(told, list(gold), names)
    again = vectors.agreement(np.tile(told, 6), list(gold) * 6, names * 6)
    np.testing.assert_allclose(again, once)


def test_agreement_of_what_does_not_vary_is_not_defined() -> None:
    told = np.array([[1, 1, 1, 1, 1], [1, 2, 3, 4, 5]], dtype=np.float32)
    told[0, 0] = np.nextafter(np.float32(1), np.float32(0))
    found = vectors.agreement(told, [1, 2, 3, 4, 5], list("abcde"))
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == pytest.approx([1, 2 * wilson(1, 5)[0] - 1, 1])
    assert np.isnan(vectors.agreement(told, [3] * 5, list("abcde"))).all()


def test_measured_on_pairs_is_what_its_parts_give() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 9, 4)).astype(np.float32) + 1
    reference = vectors.SentenceVectors({"mean": values[:, :4], "max": values[:, :4] * 2}, (0,) * 4)
    sentences = vectors.SentenceVectors({"mean": values[:, 4:], "max": values[:, 4:] * 2}, (0,) * 5)
    pairs, scores = [(0, 1), (2, 3), (4, 0), (1, 3)], [1.0, 5, 0, 3]
    found = vectors.measure(reference, sentences, pairs, scores, ["a", "b", "a", "b"])
    assert len(found.agreements) == 2 * 2 * 2
    raw = found.of(1, "mean", removed=False)
    matrix = cosine_similarity(values[1, 4:])
    assert raw.rho == pytest.approx(spearmanr([matrix[pair] for pair in pairs], scores).statistic)
    assert raw.mean_cosine == pytest.approx(matrix[~np.eye(5, dtype=bool)].mean(), abs=1e-6)
    removed = found.of(1, "max", removed=True)
    own = vectors.shared_by(values[1, :4] * 2).removed(values[1, 4:] * 2)
    np.testing.assert_allclose(found.shared["max"][1].removed(values[1, 4:] * 2), own)
    expected = [1 - cosine(own[a], own[b]) for a, b in pairs]
    assert removed.rho == pytest.approx(spearmanr(expected, scores).statistic)
