"""Probes, control tasks, code lengths, similarity and movement against answers known beforehand."""

import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from analysis.probing import Dataset
from analysis.probing.baselines import bag_of_words, baseline_answers, position, word_bigrams
from analysis.probing.cka import cka_matrix_of, cross_cka, linear_cka
from analysis.probing.classifier import fit
from analysis.probing.control import control_task, control_word
from analysis.probing.data import DEV, TEST, TRAIN
from analysis.probing.features import ArrayVectors, VectorStore
from analysis.probing.layers import (
    Depth,
    accuracy_by_text,
    centre_of_gravity,
    expected_layer,
    expected_layer_of_records,
    weighted_by_gain,
)
from analysis.probing.mdl import block_ends, description_length, online_code
from analysis.probing.movement import movement
from analysis.probing.pca import principal_components


def noise(n: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)


@pytest.mark.parametrize("c", [0.01, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("fit_bytes", [10**9, 0])
def test_probe_is_scikit_learns_on_standardized_features(n_classes: int, fit_bytes: int, c: float) -> None:
    x = noise(400, 20) * np.linspace(0.1, 50, 20, dtype=np.float32) + 3
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    y = (z[:, :n_classes] + 0.5 * noise(400, n_classes, 1)).argmax(axis=1)
    probe = fit(ArrayVectors(x), np.arange(300), y[:300], n_classes, c=c, fit_bytes=fit_bytes)
    log_p = probe.log_probabilities(ArrayVectors(x), np.arange(300, 400))
    scaler = StandardScaler().fit(x[:300].astype(np.float64))
    expected = LogisticRegression(C=c, tol=1e-8, max_iter=5000).fit(scaler.transform(x[:300]), y[:300])
    np.testing.assert_allclose(np.exp(log_p), expected.predict_proba(scaler.transform(x[300:])), atol=0.002)


def test_file_and_memory_give_the_same_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.probing.features.BLOCK_BYTES", 4 * 8 * 16)  # blocks of 16 rows
    vectors = np.stack([noise(100, 8, seed) for seed in range(3)])
    rows = np.random.default_rng(0).permutation(100)[:70]
    with VectorStore(100, 3, 8, ram_bytes=0) as store:
        store.write(np.arange(60, 100), vectors[:, 60:])
        store.write(np.arange(0, 60)[::-1].copy(), vectors[:, :60][:, ::-1])
        layer = store.layer(2)
        path: Path = layer.path
        np.testing.assert_array_equal(np.concatenate(list(layer.blocks(rows))), vectors[2, rows])
        assert max(len(block) for block in layer.blocks(rows)) == 16
        labels = (vectors[2, :, 0] > 0).astype(np.int64)
        from_file = fit(layer, np.arange(100), labels, 2, fit_bytes=0)
        from_memory = fit(ArrayVectors(vectors[2]), np.arange(100), labels, 2)
        np.testing.assert_allclose(from_file.weights, from_memory.weights, atol=0.002)
    assert not path.exists()


def words_dataset(words: list[str], labels: list[str], part: list[int]) -> Dataset:
    texts = tuple(f"x{i} {word}" for i, word in enumerate(words))
    spans = np.array([[len(text) - len(word), len(text)] for text, word in zip(texts, words, strict=True)])
    return Dataset(
        name="own", level="token", texts=texts, split=np.array(part), text_of=np.arange(len(words)),
        labels=tuple(labels), spans=spans,
    )  # fmt: skip


def a_sentence(text: str) -> Dataset:
    zero = np.array([TRAIN])
    return Dataset(name="own", level="sentence", texts=(text,), split=zero, text_of=zero, labels=("a",))


def test_baselines_by_hand() -> None:
    # "a" is mostly A, "b" always B, "c" is new and gets the majority, B; words stand alone in their texts.
    words = ["a", "a", "a", "b", "b", "a", "b", "a", "b", "c"]
    labels = ["A", "A", "B", "B", "B", "A", "B", "A", "A", "B"]
    data = words_dataset(words, labels, [TRAIN] * 5 + [DEV] * 2 + [TEST] * 3)
    numbers = np.array(["AB".index(label) for label in labels])
    correct = baseline_answers(data, numbers)
    assert list(correct) == ["majority", "word only", "bag of words", "word bigrams", "position"]
    assert correct["majority"].tolist() == [False, False, True]
    assert correct["word only"].tolist() == [True, False, True]
    new = words_dataset([*words[:7], "d", "e", "f"], labels, [TRAIN] * 5 + [DEV] * 2 + [TEST] * 3)
    assert "word only" not in baseline_answers(new, np.arange(10) % 2)
    # What baselines see by hand.
    text = "She, too, ran."
    complete = a_sentence(text)
    assert bag_of_words(complete) == [{"she": 1, ",": 2, "too": 1, "ran": 1, ".": 1}]
    pairs = {"¶ she": 1, "she ,": 1, ", too": 1, "too ,": 1, ", ran": 1, "ran .": 1, ". ¶": 1}
    assert word_bigrams(complete) == [bag_of_words(complete)[0] | pairs]
    word = Dataset(
        name="own", level="token", texts=(text,), split=np.array([0]), text_of=np.array([0, 0]), labels=("a", "b"),
        spans=np.array([[0, 3], [10, 13]]),
    )  # fmt: skip
    assert word_bigrams(word)[1] == dict.fromkeys(["ran", ", …", "… .", ", ran …", "… ran ."], 1)
    assert position(word) == [{f"from the start {a}": 1, f"from the end {b}": 1} for a, b in ((0, 6), (4, 2))]
    assert bag_of_words(word)[0] == bag_of_words(word)[1] == bag_of_words(complete)[0]
    # Control word of a sentence is its longest.
    assert control_word(a_sentence("The Farmer walks home."), 0) == "farmer"


def test_a_network_finds_what_no_line_parts() -> None:
    x = noise(600, 4)
    y = ((x[:, 0] > 0) ^ (x[:, 1] > 0)).astype(np.int64)
    vectors, train, test = ArrayVectors(x), np.arange(400), np.arange(400, 600)
    right = {}
    for kind in ("linear", "mlp"):
        log_p = fit(vectors, train, y[:400], 3, kind=kind).log_probabilities(vectors, test)
        np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1, rtol=1e-4)
        assert (log_p[:, 2] == -np.inf).all()  # a label that training has not shown
        right[kind] = (log_p.argmax(axis=1) == y[400:]).mean()
    assert right["linear"] < 0.65
    assert right["mlp"] > 0.85
    # Constant features and a single label do no harm.
    x = np.full((30, 3), 7.3, dtype=np.float32)
    x[:, 0] = np.arange(30) % 2
    probe = fit(ArrayVectors(x), np.arange(20), np.arange(20) % 2, 2)
    assert (probe.log_probabilities(ArrayVectors(x), np.arange(20, 30)).argmax(axis=1) == x[20:, 0]).all()
    single = fit(ArrayVectors(x), np.arange(20), np.full(20, 2), 4).log_probabilities(ArrayVectors(x), np.arange(2))
    np.testing.assert_array_equal(np.exp(single), [[0, 0, 1, 0]] * 2)


def test_control_task_is_a_random_function_of_the_word() -> None:
    words = [f"word{i % 50}" for i in range(1000)]
    labels = np.array([0] * 750 + [1] * 250)
    data = words_dataset(words, [str(label) for label in labels], [TEST if i % 10 < 3 else TRAIN for i in range(1000)])
    control = control_task(data, labels, seed=1)
    by_word = {word: set(control.labels[[w == word for w in words]].tolist()) for word in set(words)}
    assert all(len(value) == 1 for value in by_word.values())
    assert 0.55 < (control.labels == 0).mean() < 0.92  # three of four in the mean over 50 word types
    assert (control.split == TEST).sum() == 300
    # Vectors that are the word and nothing else: the control task is learned by heart, the real one is not.
    types = np.array([int(word[4:]) for word in words])
    vectors = ArrayVectors(np.eye(50, dtype=np.float32)[types])
    train, test = np.flatnonzero(control.split == TRAIN), np.flatnonzero(control.split == TEST)
    probe = fit(vectors, train, control.labels[train], 2)
    assert (probe.log_probabilities(vectors, test).argmax(axis=1) == control.labels[test]).mean() == 1.0


def test_online_code_by_hand() -> None:
    # Two labels at 2 bits each (four classes), then probabilities 1/2, 1/4 and 1/8: 4 + 1 + 2 + 3 bits.
    blocks = [np.log(np.array([0.5, 0.25], dtype=np.float32)), np.log(np.array([0.125], dtype=np.float32))]
    code = online_code(2, 4, blocks)
    assert code.bits == pytest.approx(10)
    assert code.uniform_bits == 10
    assert code.compression == pytest.approx(1)
    # Description length is its definition summed.
    x, rows = noise(256, 6), np.arange(256)
    y = (x[:, 0] + 0.3 * noise(256, 1, 5)[:, 0] > 0).astype(np.int64)
    code = description_length(ArrayVectors(x), rows, y, 2, seed=3)
    order = np.random.default_rng(3).permutation(256)
    ends = block_ends(256)
    assert ends == [2, 4, 8, 16, 32, 64, 128, 256]
    bits = 2.0
    for end, following in pairwise(ends):
        seen, ahead = order[:end], order[end:following]
        if len(set(y[seen])) == 1:  # the unseen label has probability 1 / (t + 1)
            bits -= np.log2(np.where(y[ahead] == y[seen][0], end / (end + 1), 1 / (end + 1))).sum()
            continue
        scaler = StandardScaler().fit(x[seen])
        model = LogisticRegression(tol=1e-6, max_iter=1000).fit(scaler.transform(x[seen]), y[seen])
        probability = model.predict_proba(scaler.transform(x[ahead]))[np.arange(len(ahead)), y[ahead]]
        bits -= np.log2(probability).sum()
    assert code.bits == pytest.approx(bits, rel=0.01)
    shuffled = description_length(ArrayVectors(noise(256, 6, 9)), rows, y, 2, seed=3)
    assert code.bits < 0.6 * code.uniform_bits
    assert shuffled.compression < 1.05


def test_gains_are_weighted_by_hand() -> None:
    # Gains 0.2 at layer 1 and 0.1 at layer 3; layer 2 sets no record, so the loss there counts for nothing.
    scores = np.array([[0.5, 0.7, 0.6, 0.8]])
    assert expected_layer_of_records(scores, scores).tolist() == [[0.5, 0.7, 0.7, 0.8]]
    assert weighted_by_gain(expected_layer_of_records(scores, scores)) == pytest.approx([(1 * 0.2 + 3 * 0.1) / 0.3])
    assert np.isnan(weighted_by_gain(expected_layer_of_records(scores, np.array([[0.9, 0.9, 0.1, 0.9]])))).all()
    # What sets a record where layers are chosen may lose where they are scored; equals set none.
    chosen_by = np.array([[3.0, 5.0, 5.0, 6.0]])
    assert expected_layer_of_records(chosen_by, scores).tolist() == [[0.5, 0.7, 0.7, 0.8]]
    assert expected_layer_of_records(chosen_by, np.array([[0.5, 0.8, 0.9, 0.7]])).tolist() == [[0.5, 0.8, 0.8, 0.7]]
    # Centre of gravity by hand.
    # Of ten texts with an item each, 5, 7, 4 and 8 are right, and 5 by always giving the same label.
    right = [np.arange(10) < n for n in (5, 7, 4, 8)]
    centre = centre_of_gravity(accuracy_by_text(right, np.arange(10)), (np.arange(10) < 5).astype(np.float64))
    assert centre.value == pytest.approx((1 * 0.2 + 3 * 0.3) / 0.5)
    assert centre.low < centre.value < centre.high
    assert centre_of_gravity(accuracy_by_text(right[:1], np.arange(10)), np.ones(10)) is None


def held_out(accuracies: Sequence[float], n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Which of n items each layer gets right; an item that is hard for one layer is rather hard for the others."""
    hard = np.sqrt(0.5) * rng.normal(size=n)
    z = hard + np.sqrt(0.5) * rng.normal(size=(len(accuracies), n))
    return [of_layer < NormalDist().inv_cdf(share) for of_layer, share in zip(z, accuracies, strict=True)]


@pytest.mark.parametrize(
    ("accuracies", "true"),
    [
        ((0.5, *[0.8] * 6), 1.0),  # a jump and a plateau: the running maximum of test accuracies says 1.2
        ((0.5, 0.5, 0.5, 0.5, 0.8, 0.8, 0.8), 4.0),
        ((0.5, 0.57, 0.64, 0.71, 0.78, 0.85, 0.92), 3.5),
        ((0.5, 0.6, 0.75, 0.85, 0.9, 0.86, 0.83), 2.25),  # what is lost later counts for nothing
    ],
)
def test_the_expected_layer_is_right_in_the_mean_and_its_interval_as_often_as_it_says(
    accuracies: tuple[float, ...], true: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.probing.layers.HALVINGS", 20)
    rng = np.random.default_rng(0)
    actual = [
        expected_layer(*(accuracy_by_text(held_out(accuracies, n, rng), np.arange(n)) for n in (60, 200)), seed=seed)
        for seed in range(40)
    ]
    values = np.array([[entry.value, entry.low, entry.high] for entry in actual if entry is not None])
    assert len(values) == 40
    assert values[:, 0].mean() == pytest.approx(true, abs=0.12)
    assert ((values[:, 1] <= true) & (true <= values[:, 2])).sum() >= 35
    assert np.median(values[:, 2] - values[:, 1]) < 1.6


def test_items_of_one_text_are_left_out_together() -> None:
    rng = np.random.default_rng(0)
    development, test = (held_out((0.5, 0.7, 0.8), n, rng) for n in (40, 120))

    def actual(copies: int) -> Depth | None:
        sides = ([np.repeat(of_layer, copies) for of_layer in side] for side in (development, test))
        groups = (np.repeat(np.arange(n), copies) for n in (40, 120))
        return expected_layer(*map(accuracy_by_text, sides, groups), seed=0)

    assert None is not actual(5) == actual(1)  # five words that are always right together are worth no more than one
    nothing = accuracy_by_text([np.ones(40, dtype=bool)] * 3, np.arange(40))
    assert expected_layer(nothing, nothing, seed=0) is None


def test_cka_of_a_rotation_is_one_and_the_matrix_is_symmetric() -> None:
    x = noise(60, 12)
    rotation, _ = np.linalg.qr(noise(12, 12, 1))
    assert linear_cka(x, 3 * x @ rotation + 5) == pytest.approx(1, abs=1e-5)
    y = noise(60, 7, 2)
    xc, yc = x - x.mean(axis=0), y - y.mean(axis=0)
    by_features = np.linalg.norm(yc.T @ xc) ** 2 / (np.linalg.norm(xc.T @ xc) * np.linalg.norm(yc.T @ yc))
    assert linear_cka(x, y) == pytest.approx(by_features, rel=1e-5)
    constant = np.ones((60, 3), dtype=np.float32)
    assert linear_cka(x, constant) == 0
    matrix = cka_matrix_of([x, y, constant])
    assert matrix[0, 1] == pytest.approx(linear_cka(x, y), abs=1e-6)
    np.testing.assert_allclose(matrix, matrix.T)
    np.testing.assert_allclose(np.diag(matrix), [1, 1, 0], atol=1e-6)
    # CKA of many vectors holds no matrix of all pairs.
    x, y = noise(20_000, 4), noise(20_000, 5, 1)  # all pairs would be 3.2 GB
    tracemalloc.start()
    try:
        assert linear_cka(x, y) < 0.01
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    # CKA between two models is that of each pair of layers.
    a = np.stack([noise(50, 6, seed) for seed in range(3)])
    b = np.stack([noise(50, 9, seed) for seed in (7, 8)])
    b[1, :, :6] += 2 * a[2]
    similarities = cross_cka(a, b)
    assert similarities.dtype == np.float32
    np.testing.assert_allclose(similarities, [[linear_cka(x, y) for y in b] for x in a], rtol=1e-6)
    assert similarities.argmax() == 5
    np.testing.assert_allclose(np.diag(cross_cka(a, a)), 1, atol=1e-6)
    np.testing.assert_allclose(cross_cka(a, a), cka_matrix_of(a), atol=1e-6)
    with pytest.raises(ValueError, match="50 items of one model cannot be compared with 49"):
        cross_cka(a, b[:, 1:])


@pytest.mark.parametrize("n", [5, 80])
def test_principal_components_are_those_of_the_singular_vectors(n: int) -> None:
    vectors = np.stack([noise(n, 10), noise(n, 10)])
    vectors[1] *= -1
    components = principal_components(vectors)
    centred = vectors[0] - vectors[0].mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(components.points[0]), np.abs(left[:, :2] * values[:2]), atol=1e-3)
    np.testing.assert_allclose(components.explained[0], values[:2] ** 2 / (values**2).sum(), rtol=1e-4)
    np.testing.assert_allclose(*components.points, atol=1e-3)  # the sign follows the layer before


def test_movement_by_hand() -> None:
    states = np.array([[[1, 0], [2, 0], [0, 0]], [[0, 1], [4, 0], [1, 1]]], dtype=np.float32)
    np.testing.assert_allclose(movement(states), [[1, 0, 0]], atol=1e-7)
    np.testing.assert_allclose(movement(states, "relative"), [[np.sqrt(2), 1, 0]], atol=1e-6)
    # The last step can be taken before the final norm.
    states = np.array([[[1, 0]], [[1, 1]], [[5, -5]]], dtype=np.float32)
    moved = movement(states, last_unnormed=np.array([[2, 2]], dtype=np.float32))
    np.testing.assert_allclose(moved, [[1 - np.sqrt(0.5)], [0]], atol=1e-7)
    np.testing.assert_allclose(movement(states)[1], [1], atol=1e-7)
    assert states[2].tolist() == [[5, -5]]  # what was given stays as it is
