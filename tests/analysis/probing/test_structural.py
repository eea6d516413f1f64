"""The structural probe, and the trees that it is held against."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
from drawn_trees import DISTANCES, HEADS, TREE, embedded, random_heads
from own_files import trees

from analysis.probing import structural
from analysis.probing.data import DEV, TEST, TRAIN
from analysis.probing.grammar import THINGS
from analysis.probing.structural import Sentences, StructuralProbe, edges_found, spanning_tree, training
from analysis.probing.template_trees import template_conllu
from analysis.probing.trees import Tree, chain, flaw, tree_depths, tree_distances


def fit(train: Sentences, development: Sentences, **options: object) -> StructuralProbe:
    """The probe that training ends with."""
    steps = training(train, development, **options)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_the_spanning_tree_is_the_least_and_takes_equal_vectors() -> None:
    distances = np.array([[0, 5, 1, 4], [5, 0, 2, 9], [1, 2, 0, 3], [4, 9, 3, 0]], dtype=np.float64)
    assert {tuple(e) for e in structural.spanning_tree(distances, np.ones(4, bool)).tolist()} == {
        (0, 2),
        (1, 2),
        (2, 3),
    }
    assert len(structural.spanning_tree(np.zeros((5, 5)), np.ones(5, bool))) == 4  # a distance of 0 is an edge too
    assert structural.edges_found(np.array([[1, 0], [2, 3]]), np.array([[0, 1]])).tolist() == [True, False]
    counted = np.array([True, False, True, True])
    assert structural.spanning_tree(chain(4), counted).tolist() == [[0, 2], [2, 3]]
    values = [np.array(v) for v in ([1.0], [0.0, np.nan, 0.0], [0.5], [-1.0], [-1.0], [np.nan])]
    lengths = np.array([5, 5, 50, 4, 51, 7])
    # length 5: (1 + 0 + 0) / 3 values; length 50: 0.5; 4 and 51 lie outside, 7 has no value
    assert structural.mean_over_lengths(values, lengths) == pytest.approx((1 / 3 + 0.5) / 2)
    assert structural.mean_over_lengths(values[3:], lengths[3:]) is None
    assert structural.mean_over_lengths_interval(values[3:], lengths[3:], draws=5, seed=0) is None
    assert structural.mean_over_lengths_interval([np.ones(2)] * 9, np.full(9, 6), draws=5, seed=0) == (1, 1)


def test_spearman_is_scipys_row_by_row_and_undefined_without_an_order() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(6, 9)), rng.integers(1, 5, size=(6, 9))
    expected = [scipy.stats.spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(structural.ordering(a, b), expected)
    assert np.isnan(structural.ordering(a[:1], np.ones((1, 9)))).all()
    assert structural.ordering(np.ones((1, 9)), b[:1]).tolist() == [0]
    # The distance of a word to itself is left out.
    np.testing.assert_allclose(structural.squared_distances(embedded(HEADS) + 1000), DISTANCES, atol=1e-6)
    gold = tree_distances(np.array([1, 2, 3, -1]))  # a chain of four
    np.testing.assert_allclose(structural.distance_spearman(gold.astype(float), gold), 1)
    turned = gold.max() - gold.astype(float)
    np.testing.assert_allclose(structural.distance_spearman(turned, gold), -1)  # with itself it would be more
    star = tree_distances(np.array([-1, 0, 0, 0]))
    assert (
        np.isnan(structural.distance_spearman(np.random.default_rng(0).random((4, 4)), star)).tolist()
        == [True] + [False] * 3
    )


@pytest.mark.slow
def test_the_interval_over_lengths_is_that_of_a_plain_bootstrap() -> None:
    rng = np.random.default_rng(1)
    values = [rng.normal(0.5, 0.2, size=3) for _ in range(80)]
    lengths = rng.integers(5, 8, size=80)
    means = []
    for _ in range(2000):
        drawn = rng.integers(80, size=80)
        means.append(structural.mean_over_lengths([values[i] for i in drawn], lengths[drawn]))
    interval = structural.mean_over_lengths_interval(values, lengths, draws=2000, seed=0)
    np.testing.assert_allclose(interval, np.quantile(means, [0.025, 0.975]), atol=0.005)  # type: ignore[arg-type]


def forest(n_sentences: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [random_heads(rng, WORDS) for _ in range(n_sentences)]


def sentences(vectors: Sequence[np.ndarray], targets: Sequence[np.ndarray]) -> Sentences:
    ends = np.cumsum([len(vector) for vector in vectors])
    places = [np.arange(end - len(vector), end) for vector, end in zip(vectors, ends, strict=True)]
    return Sentences(np.concatenate(vectors).astype(np.float32), places, targets)


@pytest.mark.parametrize("kind", ["distance", "depth"])
def test_the_gradient_is_that_of_finite_differences(kind: str) -> None:
    rng = np.random.default_rng(0)
    heads = [random_heads(rng, n) for n in (3, 7, 5)]
    targets = [tree_distances(h) if kind == "distance" else tree_depths(h) for h in heads]
    vectors = [rng.normal(size=(len(h), 6)) for h in heads]
    data = sentences(vectors, targets)
    data = Sentences(np.concatenate(vectors), data.places, targets)  # in double precision
    b = rng.normal(size=(4, 6))
    loss, gradient = structural.loss_and_gradient(b, data)
    # The loss by the paper's formula, pair by pair.
    by_hand = []
    for h, target in zip(vectors, targets, strict=True):
        n = len(h)
        if kind == "distance":
            off = [abs(target[i, j] - np.sum((b @ (h[i] - h[j])) ** 2)) for i in range(n) for j in range(n)]
            by_hand.append(sum(off) / n**2)
        else:
            by_hand.append(sum(abs(target[i] - np.sum((b @ h[i]) ** 2)) for i in range(n)) / n)
    assert loss == pytest.approx(np.mean(by_hand), rel=1e-6)
    for place in [(0, 0), (1, 3), (3, 5)]:
        step = np.zeros_like(b)
        step[place] = 1e-6
        slope = (
            structural.loss_and_gradient(b + step, data)[0] - structural.loss_and_gradient(b - step, data)[0]
        ) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-4)


WIDTH, WORDS = 24, 9


def part(data: Sentences, start: int, stop: int) -> Sentences:
    return Sentences(data.vectors, data.places[start:stop], data.targets[start:stop])


def scores(probe: StructuralProbe, data: Sentences, heads: Sequence[np.ndarray]) -> tuple[float, float]:
    """UUAS and Spearman's rho of the last sentences, of which ``heads`` are the trees, in the mean."""
    uuas, order = [], []
    n = len(heads)
    for rows, head, target in zip(data.places[-n:], heads, data.targets[-n:], strict=True):
        distances = probe.distances(data.vectors[rows])
        tree = Tree(head, np.arange(WORDS), np.zeros(WORDS, bool))
        uuas.append(structural.edges_found(tree.edges, structural.spanning_tree(distances, ~tree.punctuation)).mean())
        order.append(np.nanmean(structural.distance_spearman(distances, target)))
    return float(np.mean(uuas)), float(np.mean(order))


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_a_tree_that_lies_in_the_vectors_is_found(offset: float) -> None:
    """Trees embedded exactly, turned, and hidden among stronger directions of noise."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0]
    heads = forest(240, 4)
    vectors = []
    for head in heads:
        points = np.concatenate([embedded(head), rng.normal(size=(WORDS, WIDTH - WORDS + 1))], axis=1)
        vectors.append(points @ turn + offset)
    targets = [tree_distances(head) for head in heads]
    data = sentences(vectors, targets)
    train, development = part(data, 0, 160), part(data, 160, 200)
    probe = fit(train, development, rank=None)
    assert probe.projection.shape == (WIDTH, WIDTH)
    uuas, order = scores(probe, data, heads[200:])
    assert uuas == 1
    assert order > 0.95
    low = fit(train, development, rank=4)
    assert low.projection.shape == (4, WIDTH)
    assert low.development_loss > 2 * probe.development_loss


def test_depths_that_lie_in_the_vectors_are_found() -> None:
    heads = forest(240, 5)
    rng = np.random.default_rng(0)
    vectors = [
        np.concatenate([embedded(head), rng.normal(scale=3, size=(WORDS, WIDTH - WORDS + 1))], axis=1) for head in heads
    ]
    targets = [tree_depths(head) for head in heads]
    data = sentences(vectors, targets)
    train, development = part(data, 0, 160), part(data, 160, 200)
    probe = fit(train, development, rank=None)
    for rows, target in zip(data.places[200:], targets[200:], strict=True):
        depths = probe.depths(data.vectors[rows])
        np.testing.assert_allclose(depths, target, atol=0.5)
        assert depths.argmin() == target.argmin()


@pytest.mark.parametrize(("kind", "width"), [("distance", 32), ("depth", 24)])
def test_training_goes_on_until_the_probe_is_as_good_as_the_planted_one(kind: str, width: int) -> None:
    """Few sentences, and columns of very different scales, one of them huge, as in the last layers of models: what was
    planted is a bound that training stopped at a plateau or a first rise misses by far, with whatever seed.
    """
    rng = np.random.default_rng(0)
    n_train, n_development = 100, 60
    heads = [random_heads(rng, WORDS) for _ in range(n_train + n_development)]
    turn = np.linalg.qr(rng.normal(size=(width, width)))[0]
    scales = np.geomspace(0.02, 1, width)
    scales[5] = 100
    vectors = []
    for head in heads:
        tree = embedded(head) + rng.normal(scale=0.1, size=(WORDS, WORDS - 1))
        vectors.append(np.concatenate([tree, rng.normal(size=(WORDS, width - WORDS + 1))], axis=1) @ turn * scales)
    targets = [tree_distances(head) if kind == "distance" else tree_depths(head) for head in heads]
    data = sentences(vectors, targets)
    train, development = part(data, 0, n_train), part(data, n_train, n_train + n_development)
    planted, _ = structural.loss_and_gradient(
        (np.eye(WORDS - 1, width) @ turn / scales).astype(np.float32), development
    )
    for seed in range(2):
        probe = fit(train, development, seed=seed)
        assert probe.development_loss < 1.12 * planted
        again, _ = structural.loss_and_gradient(probe.projection, development)
        assert again == pytest.approx(probe.development_loss, rel=0.01)


def test_noise_has_no_trees() -> None:
    rng = np.random.default_rng(6)
    heads = forest(200, 7)
    targets = [tree_distances(head) for head in heads]
    data = sentences([rng.normal(size=(WORDS, WIDTH)) for _ in heads], targets)
    uuas, order = scores(fit(part(data, 0, 100), part(data, 100, 120)), data, heads[120:])
    assert uuas == pytest.approx(2 / WORDS, abs=0.05)  # n - 1 of n (n - 1) / 2 pairs are edges
    assert order == pytest.approx(0, abs=0.06)


def test_distances_depths_and_edges_of_a_tree_drawn_by_hand() -> None:
    assert tree_distances(HEADS).tolist() == DISTANCES
    assert tree_depths(HEADS).tolist() == [2, 1, 0, 2, 1, 3, 2, 1]
    assert {tuple(edge) for edge in TREE.edges.tolist()} == {(0, 1), (1, 2), (3, 4), (2, 4), (5, 6), (4, 6)}
    assert TREE.root == 2
    # Words without characters pass distances on.
    tree = Tree(HEADS, np.array([0, 1, 2, 3, 5, 6, 7]), np.array([False] * 6 + [True]))  # without "dog"
    assert tree.distances[3].tolist() == [4, 3, 2, 0, 3, 2, 3]
    assert {tuple(edge) for edge in tree.edges.tolist()} == {(0, 1), (1, 2), (4, 5)}
    assert tree.depths.tolist() == [2, 1, 0, 2, 3, 2, 1]
    assert Tree(HEADS, np.array([0, 1, 3]), np.zeros(3, dtype=bool)).root is None
    # The chain finds the edges between neighbours.
    actual = spanning_tree(chain(8), ~TREE.punctuation)
    assert actual.tolist() == [[i, i + 1] for i in range(6)]  # the full stop is left out
    # the-cat, cat-saw, a-dog, near-houses of six
    assert edges_found(TREE.edges, actual).sum() == 4
    assert edges_found(TREE.edges, actual).mean() == pytest.approx(4 / 6)


def test_what_is_no_tree() -> None:
    assert flaw([1, -1, 1]) is flaw([-1]) is None
    assert flaw([1, None, 1]) == "words without a head"
    assert flaw([-1, -1, 1]) == "several roots"
    assert flaw([1, 0]) == "no root"
    assert flaw([-1, 2, 1]) == flaw([-1, 1, 0]) == "a cycle"  # of two words, and of one that is its own head


def test_template_sentences_are_different_and_trees_of_their_words() -> None:
    text = template_conllu(300, seed=2)
    assert text == template_conllu(300, seed=2)
    assert "made by templates" in text.splitlines()[0]
    treebank = trees(text.encode(), "templates")
    assert len(treebank.words.texts) == 300
    assert not treebank.words.notes
    written = [line.removeprefix("# text = ") for line in text.splitlines() if line.startswith("# text = ")]
    assert list(treebank.words.texts) == written
    assert {DEV, TEST, TRAIN} == set(treebank.words.split.tolist())
    # No lamp sees or wants anything: after "the lamp that" somebody else follows.
    things = "|".join(noun.singular for noun in THINGS)
    assert not re.search(rf"\b({things}) that (?!the |this |every )", text)
    for tree in treebank.trees.values():
        assert tree.punctuation[-1]
        # Every link but the comma's and the full stop's crosses no other: what a template makes is projective.
        edges = tree.edges.tolist()
        assert not any(a < c < b < d for a, b in edges for c, d in edges)
