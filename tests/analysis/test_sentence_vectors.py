"""Sentences as vectors: pooling by hand, cosines against scikit-learn and scipy, agreement against scipy."""

import builders
import numpy as np
import pytest
import torch
from checkpoints import Checkpoint
from scipy.spatial.distance import cosine
from scipy.stats import bootstrap, spearmanr
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from transformers import AutoModel, AutoTokenizer

from analysis import sentence_vectors as vectors
from analysis.intervals import wilson
from model_zoo import Engine, sources
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, HiddenStates, NamedPooling, read_only
from training.finetuning import sentence_pairs

TEXTS = ["A cat.", "The old bridge over the river was closed for two years.", "It rains."]


def states(values: list[list[float]], encoding: Encoding | None = None) -> HiddenStates:
    """One layer of tokens, [CLS] first and [SEP] last where nothing else is said."""
    return HiddenStates(
        encoding=encoding or builders.encoding(["a"] * (len(values) - 2)),
        states=read_only(np.array([values], dtype=np.float32)),
    )


def test_a_sentence_is_its_first_token_or_the_mean_or_maximum_of_its_own() -> None:
    entry, other = states([[9, 9], [1, 2], [3, 8], [7, 7]]), states([[4, 4], [5, 6], [0, 0]])
    actual = vectors.sentence_vectors(iter([(1, other), (0, entry)]), 2)
    assert actual.of["cls"].tolist() == [[[9, 9], [4, 4]]]
    assert actual.of["mean"].tolist() == [[[2, 5], [5, 6]]]
    assert actual.of["max"].tolist() == [[[3, 8], [5, 6]]]
    assert actual.n_dropped == (0, 0)
    # Without [CLS] it is the first token.
    bare = builders.encoding(["a", "b"], front=None, end=None)
    assert vectors.sentence_vectors([(0, states([[1, 2], [3, 8]], bare))], 1).of["cls"].tolist() == [[[1, 2]]]
    assert vectors.summary_token(bare) is None
    assert vectors.summary_token(builders.encoding(["a"], front="<s>", end="</s>")) == "<s>"
    typed = builders.encoding(["[CLS]", "a"], front=None, end=None)
    assert vectors.summary_token(typed) is None  # a word that somebody typed
    with pytest.raises(InvalidInput, match="Sentence 2 has no token that this model reads"):
        vectors.sentence_vectors([(0, states([[1], [1], [1]])), (1, states([[1], [1]]))], 2)
    with pytest.raises(InvalidInput, match="The query has no token"):
        vectors.sentence_vectors([(0, states([[1], [1]]))], 1, "The query")
    cut = states([[1], [1], [1]], builders.encoding(["a"], n_dropped=7))
    assert vectors.sentence_vectors([(0, cut)], 1).n_dropped == (7,)


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "xlnet", "t5", "modernbert"])
def test_vectors_are_those_of_a_text_by_itself(family: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Padding does not count: together in batches, and one by one with the pooling written out."""
    model = str(checkpoint(family))
    together = vectors.sentence_vectors(engine.iter_hidden_states(model, TEXTS), len(TEXTS))
    for place, text in enumerate(TEXTS):
        alone = engine.encoded_states(model, text)
        special = alone.encoding.special
        mine = [token for token in range(len(alone.encoding)) if not special[token]]
        summary = {"gpt2": 0, "t5": 0, "xlnet": len(alone.encoding) - 1}.get(family, 0)
        for layer in range(len(alone.states)):
            here = alone.states[layer].astype(np.float64)
            expected = {"cls": here[summary], "mean": sum(here[t] for t in mine) / len(mine), "max": here[mine].max(0)}
            for pooling, row in expected.items():
                np.testing.assert_allclose(together.of[pooling][layer, place], row, atol=2e-5)


HIDDEN = states([[1, -4], [2, 5], [6, 0], [7, 3]])


def test_a_named_pooling_counts_all_tokens() -> None:
    for modes, expected in (
        (("cls",), [1, -4]),
        (("lasttoken",), [7, 3]),
        (("max",), [7, 5]),
        (("mean",), [4, 1]),
        (("mean_sqrt_len_tokens",), [8, 2]),
        (("weightedmean",), [(1 + 4 + 18 + 28) / 10, (-4 + 10 + 0 + 12) / 10]),
        (("mean", "cls"), [4, 1, 1, -4]),
    ):
        actual = vectors.usual_vector(HIDDEN, NamedPooling(modes))
        assert actual.dtype == np.float32
        np.testing.assert_allclose(actual, [expected], rtol=1e-6)
        of_texts = vectors.sentence_vectors([(0, HIDDEN)], 1, named=NamedPooling(modes))
        np.testing.assert_allclose(of_texts.of["own"][:, 0], [expected], rtol=1e-6)
        assert (of_texts.usual, list(of_texts.of), of_texts.n_tokens) == ("own", ["own", "cls", "mean", "max"], (4,))
    # Without one it is the mean of a text's own tokens.
    for named in (None, NamedPooling((), None, ("a dense layer",))):
        assert vectors.usual_vector(HIDDEN, named) == pytest.approx(np.array([[4, 2.5]]))
        assert vectors.sentence_vectors([(0, HIDDEN)], 1, named=named).usual == "mean"


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_a_named_pooling_is_that_of_plain_transformers(family: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """In one padded batch, by its attention mask."""
    model = str(checkpoint(family))
    tokenizer, network = AutoTokenizer.from_pretrained(model, padding_side="right"), AutoModel.from_pretrained(model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        tokens = network.eval()(**inputs).last_hidden_state
    mask = inputs["attention_mask"][..., None]
    expected = (tokens * mask).sum(dim=1) / mask.sum(dim=1)
    hidden = engine.iter_hidden_states(model, TEXTS)
    actual = vectors.sentence_vectors(hidden, len(TEXTS), named=NamedPooling(("mean",)))
    np.testing.assert_allclose(actual.of["own"][-1], expected, atol=1e-5)


def test_cosines_are_those_of_sklearn_and_scipy() -> None:
    mine = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    mine[3] = 0
    cosines = vectors.cosines(mine)
    np.testing.assert_allclose(cosines, cosine_similarity(mine), atol=1e-6)
    assert cosines[0, 1] == pytest.approx(1 - cosine(mine[0], mine[1]), abs=1e-6)
    np.testing.assert_allclose(vectors.pair_cosines(mine[:3], mine[4:]), np.diag(cosines[:3, 4:]), atol=1e-6)
    pairs = cosine_similarity(mine)[~np.eye(7, dtype=bool)]
    assert vectors.mean_of_pairs(mine) == pytest.approx(pairs.mean(), abs=1e-6)
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
    # Of vectors that are all the same nothing is left but rounding, which is no direction.
    same = np.tile(np.random.default_rng(0).normal(size=300).astype(np.float32), (7, 1))
    same[::2] = np.nextafter(same[::2], np.float32(9))
    assert not vectors.shared_by(same).removed(same).any()
    assert vectors.mean_of_pairs(vectors.shared_by(same).removed(same)) == 0


@pytest.mark.slow
def test_agreement_is_scipys_spearman_with_an_interval_like_that_of_its_bootstrap() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(6, size=80).astype(float)
    noise = rng.normal(size=(3, 80))
    predicted = np.stack([gold + 2 * noise[0], noise[1] - gold, noise[2]]).astype(np.float32)
    predicted[2] = predicted[2].round()  # ties in both
    agreement = vectors.agreement(predicted, list(gold), [str(pair) for pair in range(80)])
    for row, (rho, low, high) in zip(predicted, agreement, strict=True):
        assert rho == pytest.approx(spearmanr(row, gold).statistic, abs=1e-9)
        ends = bootstrap(
            (row, gold), lambda a, b: spearmanr(a, b).statistic, paired=True, vectorized=False, n_resamples=1000,
            method="percentile", rng=np.random.default_rng(1),
        ).confidence_interval  # fmt: skip
        assert (low, high) == pytest.approx((ends.low, ends.high), abs=0.05)


def test_agreement_of_what_does_not_vary_is_not_defined() -> None:
    predicted = np.array([[1, 1, 1, 1, 1 - 1e-9], [1, 2, 3, 4, 5]])
    errors = np.full((2, 5), 1e-9)
    agreement = vectors.agreement(predicted, [1, 2, 3, 4, 5], list("abcde"), errors)
    assert np.isnan(agreement[0]).all()
    assert agreement[1].tolist() == pytest.approx([1, 2 * wilson(1, 5)[0] - 1, 1])
    assert np.isnan(vectors.agreement(predicted, [3] * 5, list("abcde"), errors)).all()
    # Most pairs are the same but for rounding, which must not order them; a few are not.
    rng = np.random.default_rng(0)
    gold = np.arange(40.0)
    true = np.where(gold < 32, 0.5, np.linspace(0.6, 0.9, 40))
    predicted = true + rng.uniform(-1e-9, 1e-9, 40)
    (actual,) = vectors.agreement(predicted[None], list(gold), list(map(str, range(40))), np.full((1, 40), 1e-9))
    assert actual[0] == pytest.approx(spearmanr(true, gold).statistic, abs=1e-12)
    assert actual[0] != pytest.approx(spearmanr(predicted, gold).statistic, abs=1e-3)
    assert np.isfinite(actual).all()
    # Values in a row that each lie close to the next are not all the same.
    values, errors = np.linspace(0, 1, 101), np.full(101, 0.02)
    (actual,) = vectors.agreement(values[None], values.tolist(), [str(pair) for pair in range(101)], errors[None])
    assert actual[0] > 0.99
    # A few steps of rounding are no order.
    gold = list(range(100))
    for n_steps, is_shown in ((8, False), (20, True)):
        values, errors = np.linspace(0, n_steps, 100), np.full(100, 0.5)
        (actual,) = vectors.agreement(values[None], gold, [str(pair) for pair in gold], errors[None])
        assert np.isfinite(actual[0]) == is_shown
    # One group alone that varies makes no certain order.
    predicted = np.array([[0, 0, 0, 0, 0, 0.9]])
    (actual,) = vectors.agreement(predicted, [0, 1, 2, 3, 4, 5], list("abcdef"))
    assert actual[1] < 0 < actual[0] < actual[2]
    # Six times the same pairs say no more than once.
    rng = np.random.default_rng(0)
    gold = rng.integers(6, size=20).astype(float)
    predicted = (gold + rng.normal(size=20) * 2)[None].astype(np.float32)
    names = [str(pair) for pair in range(20)]
    once = vectors.agreement(predicted, list(gold), names)
    again = vectors.agreement(np.tile(predicted, 6), list(gold) * 6, names * 6)
    np.testing.assert_allclose(again, once)


def close(n: int, apart: float, width: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Two lists of vectors in float64, so far from each other and from a vector that all have in common."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=width)
    common /= np.linalg.norm(common)
    a, b = (common + apart * np.linspace(0.5, 1.5, n)[:, None] * rng.normal(size=(n, width)) / 8 for _ in range(2))
    return a, b


@pytest.mark.parametrize("apart", [3e-4, 1e-2, 1])
def test_cosines_near_1_are_ranked_as_in_double_precision(apart: float) -> None:
    """Where vectors nearly all point the same way, cosines that are computed in float32 are rounding."""
    a, b = close(60, apart)
    true = np.array([1 - cosine(*pair) for pair in zip(a, b, strict=True)])
    small_a, small_b = a.astype(np.float32), b.astype(np.float32)
    predicted, errors = vectors.pair_cosines(small_a, small_b), vectors.rounding(small_a, small_b)
    assert (np.abs(predicted - true) <= errors).all()
    gold = np.argsort(np.argsort(true)).tolist()
    (actual,) = vectors.agreement(predicted[None], gold, [str(pair) for pair in range(60)], errors[None])
    assert actual[0] == pytest.approx(1, abs=2e-3)
    if apart == 3e-4:
        in_float32 = (small_a * small_b).sum(1) / np.linalg.norm(small_a, axis=1) / np.linalg.norm(small_b, axis=1)
        assert spearmanr(in_float32, gold).statistic < 0.97


def test_vectors_that_differ_by_rounding_alone_are_all_alike() -> None:
    a, b = (side.astype(np.float32) for side in close(20, 1e-8))
    assert vectors.all_alike(a)
    assert vectors.all_alike(np.repeat(a[:1], 5, axis=0))
    cosines, errors = vectors.pair_cosines(a, b)[None], vectors.rounding(a, b)[None]
    (actual,) = vectors.agreement(cosines, list(range(20)), list(map(str, range(20))), errors)
    assert np.isnan(actual).all()
    apart = close(20, 1e-3)[0].astype(np.float32)
    assert not vectors.all_alike(apart)
    assert vectors.all_alike(apart, "bfloat16")
    zeros = np.zeros((2, 4), dtype=np.float32)
    assert vectors.all_alike(zeros)
    assert np.isfinite(vectors.rounding(zeros, zeros)).all()


@pytest.mark.slow
def test_rounding_bounds_what_float64_gives(engine: Engine) -> None:
    """The bundled BERT by transformers in double precision: no cosine is farther away than is said, and ranks agree,
    also where raw [CLS] vectors are nearly all the same (layers 1 to 3).
    """
    pairs = sentence_pairs.pairs("test")
    texts = sentence_pairs.sentences(pairs)
    sides = [[texts.index(text) for text in of] for of in ([p.text for p in pairs], [p.pair for p in pairs])]
    folder = sources.embedded_folder("embedded/bert")
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).double().eval()
    exact = []
    with torch.no_grad():
        for text in texts:
            layers = network(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
            exact.append(torch.stack(layers)[:, 0].numpy())
    actual = sentence_pairs.vectors(engine, "embedded/bert", texts)
    scores, clusters = [pair.score for pair in pairs], [pair.cluster for pair in pairs]
    for layer in range(len(exact[0])):
        of_layer = {
            "cls": np.stack([states[layer][0] for states in exact]),
            "mean": np.stack([states[layer][1:-1].mean(axis=0) for states in exact]),
        }
        for pooling, true in of_layer.items():
            a, b = (actual.of[pooling][layer][side] for side in sides)
            units = true / np.linalg.norm(true, axis=1, keepdims=True)
            cosines = (units[sides[0]] * units[sides[1]]).sum(axis=1)
            predicted, errors = vectors.pair_cosines(a, b), vectors.rounding(a, b)
            assert (np.abs(predicted - cosines) <= errors).all(), (layer, pooling)
            ((rho, *_),) = vectors.agreement(predicted[None], scores, clusters, errors[None])
            if (layer, pooling) == (0, "cls"):  # the same token, type and place in every sentence
                assert np.isnan(rho)
            else:
                assert rho == pytest.approx(spearmanr(cosines, scores).statistic, abs=1e-3), (layer, pooling)


@pytest.mark.parametrize(("of_scene", "of_slope"), [(0.05, 0.0), (0.06, 0.05)])
def test_intervals_over_scenes_hold_the_true_rank_correlation(of_scene: float, of_slope: float) -> None:
    """Pairs of the test split are six of each of ten scenes, one a score; those of score 0 are of two scenes. Cosines
    drawn with effects of scenes as large as those in the bundled models: intervals over scenes hold the truth, and
    those over pairs, which would take the pairs of a scene for independent ones, are half as wide again without need.
    """
    rng, repeats, noise = np.random.default_rng(3), 300, 0.12
    levels = np.array([0.2, 0.3, 0.6, 0.7, 0.85, 0.65])

    def drawn(n: int, times: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scene, score = np.repeat(np.arange(n), 6), np.tile(np.arange(6), n)
        other = np.where(score == 0, (scene + 1) % n, scene)
        level, slope = (rng.normal(0, size, (times, n)) for size in (of_scene, of_slope))
        both = [(part[:, scene] + part[:, other]) / 2 for part in (level, slope)]
        predicted = levels[score] + both[0] + (score - 2.5) * both[1] + rng.normal(0, noise, (times, 6 * n))
        return predicted, score, scene

    predicted, score, _ = drawn(20_000, 1)
    truth = spearmanr(predicted[0], score).statistic
    predicted, score, scene = drawn(10, repeats)
    by_scene = vectors.agreement(predicted, score.tolist(), [str(part) for part in scene])
    by_pair = vectors.agreement(predicted, score.tolist(), [str(part) for part in range(len(score))])
    held, of_pairs = (((actual[:, 1] <= truth) & (truth <= actual[:, 2])).mean() for actual in (by_scene, by_pair))
    assert 0.9 <= held <= 0.98
    assert of_pairs >= held
    if not of_slope:
        widths = [np.median(actual[:, 2] - actual[:, 1]) for actual in (by_scene, by_pair)]
        assert widths[1] > 1.4 * widths[0]


def test_measured_on_pairs_is_what_its_parts_give() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 9, 4)).astype(np.float32) + 1
    reference = vectors.SentenceVectors({"mean": values[:, :4], "max": values[:, :4] * 2}, (3,) * 4, (0,) * 4)
    sentences = vectors.SentenceVectors({"mean": values[:, 4:], "max": values[:, 4:] * 2}, (3,) * 5, (0,) * 5)
    pairs, scores = [(0, 1), (2, 3), (4, 0), (1, 3)], [1.0, 5, 0, 3]
    measured = vectors.measure(reference, sentences, pairs, scores, ["a", "b", "a", "b"])
    assert len(measured.agreements) == 2 * 2 * 2
    raw = measured.of(1, "mean", removed=False)
    matrix = cosine_similarity(values[1, 4:])
    predicted = [matrix[pair] for pair in pairs]
    assert raw.rho == pytest.approx(spearmanr(predicted, scores).statistic)
    assert raw.spread == pytest.approx(max(predicted) - min(predicted), abs=1e-6)
    assert raw.mean_cosine == pytest.approx(matrix[~np.eye(5, dtype=bool)].mean(), abs=1e-6)
    removed = measured.of(1, "max", removed=True)
    mine = vectors.shared_by(values[1, :4] * 2).removed(values[1, 4:] * 2)
    np.testing.assert_allclose(measured.shared["max"][1].removed(values[1, 4:] * 2), mine)
    expected = [1 - cosine(mine[a], mine[b]) for a, b in pairs]
    assert removed.rho == pytest.approx(spearmanr(expected, scores).statistic)
