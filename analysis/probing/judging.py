"""Probes of one task evaluated at one layer, and the results of all its layers put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.intervals import of_right
from analysis.paired import paired_p, pairwise_p
from analysis.probing.baselines import Baseline
from analysis.probing.cka import cka_matrix_of
from analysis.probing.classifier import STRENGTHS, fit
from analysis.probing.data import DEV, TEST, TRAIN, Dataset, checked
from analysis.probing.features import Vectors, VectorStore
from analysis.probing.layers import accuracy_by_text, centre_of_gravity, expected_layer
from analysis.probing.mdl import description_length
from analysis.probing.pca import principal_components
from analysis.probing.results import LayerResult, TaskMap, TaskResult, WrongExample
from analysis.probing.settings import Settings
from model_zoo.errors import InvalidInput
from model_zoo.types import BoolArray, FloatArray, IntArray

LEAST_LOG_P = -20.0  # of a development label that training has not shown


@dataclass(frozen=True, slots=True)
class SplitItems:
    """Rows of the store and label numbers of each split, and the test items' numbers."""

    train_rows: IntArray = field(repr=False)
    train: IntArray = field(repr=False)
    development_rows: IntArray = field(repr=False)
    development: IntArray = field(repr=False)
    test_rows: IntArray = field(repr=False)
    test: IntArray = field(repr=False)
    test_items: IntArray = field(repr=False)


def split_items(rows: IntArray, labels: IntArray, split: IntArray) -> SplitItems:
    """Items divided by the split they are in, TRAIN, DEV or TEST; each argument has one entry per item."""
    train, development, test = (split == of for of in (TRAIN, DEV, TEST))
    of_each = [side[of] for of in (train, development, test) for side in (rows, labels)]
    return SplitItems(*of_each, *[np.flatnonzero(test)])


@dataclass(frozen=True, slots=True)
class Subject:
    """A task about to be probed: items that have vectors, their label numbers and rows; ``names`` of the labels."""

    dataset: Dataset
    names: tuple[str, ...] = field(repr=False)
    labels: IntArray = field(repr=False)
    rows: IntArray = field(repr=False)
    real: SplitItems = field(repr=False)
    skipped: int
    longest: int


def subject_of(dataset: Dataset, rows: IntArray, n_tokens: IntArray) -> Subject:
    """The items whose vectors lie in these rows of the store; ``n_tokens`` are those of each row's text, 0 where it has
    no vector. Raises InvalidInput where too few are left.
    """
    has_vector = n_tokens[rows] > 0
    skipped = int((~has_vector).sum())
    if skipped:
        dataset = checked(dataset.select(np.ones(len(dataset.texts), dtype=bool), has_vector))
        rows = rows[has_vector]
        if len(rows) != len(dataset):  # a label was left with a single example and dropped
            raise InvalidInput(
                f"{skipped} items of {dataset.name} are beyond the model's token limit, "
                "and too few items of some label are left. Use shorter sentences."
            )
        note = f"{skipped} items had no vector: the model's token limit cut them off."
        dataset = replace(dataset, notes=(*dataset.notes, note))
    names = tuple(sorted(set(dataset.labels)))
    number = {label: i for i, label in enumerate(names)}
    labels = np.array([number[label] for label in dataset.labels], dtype=np.int64)
    real = split_items(rows, labels, dataset.item_split)
    return Subject(dataset, names, labels, rows, real, skipped, int(n_tokens[rows].max()))


@dataclass(frozen=True, slots=True)
class Fitted:
    """A layer's probe with one C: which development and test items it gets right, the mean log probability that it
    gives to the former's labels, and what it takes the latter for, with which probability.
    """

    c: float
    development: BoolArray = field(repr=False)
    log_p: float
    correct: BoolArray = field(repr=False)
    predicted: IntArray = field(repr=False)
    probability: FloatArray = field(repr=False)


def fit_all(vectors: Vectors, items: SplitItems, n_classes: int, settings: Settings, seed: int) -> list[Fitted]:
    """Fit a probe to a layer with every C of ``STRENGTHS``."""
    fitted = []
    for c in STRENGTHS:
        probe = fit(vectors, items.train_rows, items.train, n_classes, c=c, kind=settings.kind, seed=seed)
        log_p = probe.log_probabilities(vectors, items.development_rows)
        of_labels = np.maximum(log_p[np.arange(len(log_p)), items.development], LEAST_LOG_P)
        of_test = probe.log_probabilities(vectors, items.test_rows)
        predicted = of_test.argmax(axis=1)
        fitted.append(
            Fitted(
                c=c,
                development=log_p.argmax(axis=1) == items.development,
                log_p=float(of_labels.mean()),
                correct=predicted == items.test,
                predicted=predicted,
                probability=np.exp(of_test.max(axis=1)),
            )
        )
    return fitted


def choose_one_c(layers: Sequence[Sequence[Fitted]]) -> tuple[Fitted, ...]:
    """The probe of each layer with the C that does best on the development items of all layers together; among equals,
    the one that gives the labels the higher probability. With a C of its own each layer would be measured by another
    probe: code lengths and selectivity, which depend on C as much as on the layer, could not be compared.
    """
    return max(
        zip(*layers, strict=True),
        key=lambda probes: (
            sum(int(probe.development.sum()) for probe in probes),
            sum(probe.log_p for probe in probes),
        ),
    )


def layer_result(
    subject: Subject, control: SplitItems | None, vectors: Vectors, layer: int, fitted: Fitted, settings: Settings
) -> LayerResult:
    """Evaluate a probe on the test items, with its control task (None without one) and its description length where the
    settings ask for them, both by probes with the same C. The result of random weights is added later.
    """
    dataset, names, real = subject.dataset, subject.names, subject.real
    correct, predicted = fitted.correct, fitted.predicted
    low, high = of_right(correct, dataset.text_of[real.test_items])
    accuracy = float(correct.mean())
    c, kind, seed = fitted.c, settings.kind, settings.seed
    control_accuracy = None
    if control is not None:
        memorized = fit(vectors, control.train_rows, control.train, len(names), c=c, kind=kind, seed=seed)
        guessed = memorized.log_probabilities(vectors, control.test_rows).argmax(axis=1)
        control_accuracy = float((guessed == control.test).mean())
    code = None
    if settings.mdl:
        code = description_length(vectors, real.train_rows, real.train, len(names), seed, c=c, kind=kind)
    certainty = np.where(correct, -np.inf, fitted.probability)
    worst = np.argsort(-certainty, kind="stable")[: min(settings.wrong, int((~correct).sum()))]
    return LayerResult(
        task=dataset.name,
        layer=layer,
        accuracy=accuracy,
        low=low,
        high=high,
        development_accuracy=float(fitted.development.mean()),
        untrained_accuracy=None,
        control_accuracy=control_accuracy,
        selectivity=None if control_accuracy is None else accuracy - control_accuracy,
        bits=None if code is None else code.bits,
        compression=None if code is None else code.compression,
        wrong=tuple(
            WrongExample(
                text=dataset.texts[dataset.text_of[real.test_items[i]]],
                word=dataset.word(int(real.test_items[i])),
                label=names[real.test[i]],
                predicted=names[predicted[i]],
                probability=float(fitted.probability[i]),
            )
            for i in worst
        ),
    )


def task_result(
    subject: Subject,
    layers: Sequence[LayerResult],
    fitted: Sequence[Fitted],
    by_chance: Sequence[Fitted] | None,
    judges: Mapping[str, BoolArray],
    settings: Settings,
) -> TaskResult:
    """Put the layers of one seed together. ``fitted`` are their probes, ``by_chance`` those of random weights, and
    ``judges`` tell which test items the classifiers without vectors get right, the majority first.
    """
    dataset, real = subject.dataset, subject.real
    group = dataset.text_of[real.test_items]

    best = fitted[best_of([probe.development for probe in fitted])]

    def judged(name: str, correct: BoolArray) -> Baseline:
        return Baseline(name, float(correct.mean()), *of_right(correct, group), paired_p(best.correct, correct, group))

    random_weights = None
    if by_chance is not None:
        if len(by_chance[0].correct) != len(real.test):
            raise ValueError("random weights were tested on other items than the model")
        best_by_chance = by_chance[best_of([probe.development for probe in by_chance])]
        random_weights = judged("random weights", best_by_chance.correct)
    correct = [probe.correct for probe in fitted]
    result = TaskResult(
        task=dataset.name,
        level=dataset.level,
        labels=subject.names,
        n_train=len(real.train),
        n_development=len(real.development),
        n_test=len(real.test),
        c=best.c,
        baselines=tuple(judged(name, correct) for name, correct in judges.items()),
        random_weights=random_weights,
        expected_layer=None,
        centre_of_gravity=None,
        layers=tuple(layers),
        p=pairwise_p(correct, group),
        accuracies=(tuple(layer.accuracy for layer in layers),),
        skipped=subject.skipped,
        longest=subject.longest,
        notes=dataset.notes,
        settings=settings,
    )
    if result.not_beaten:
        return result
    held_out = dataset.text_of[np.flatnonzero(dataset.item_split == DEV)]
    test = accuracy_by_text(correct, group)
    development = accuracy_by_text([probe.development for probe in fitted], held_out)
    majority = accuracy_by_text([next(iter(judges.values()))], group).right[:, 0]
    return replace(
        result,
        expected_layer=expected_layer(development, test, settings.seed),
        centre_of_gravity=centre_of_gravity(test, majority),
    )


def best_of(development: Sequence[BoolArray]) -> int:
    """The layer that gets most of the development items right, the lowest among equals."""
    return int(np.argmax([correct.sum() for correct in development]))


def task_map(dataset: Dataset, real: SplitItems, store: VectorStore, settings: Settings) -> TaskMap:
    """Some test items, drawn by the seed, in every layer."""
    rng = np.random.default_rng(settings.seed)
    chosen = np.sort(rng.permutation(len(real.test_items))[: settings.map_items])
    vectors = np.stack(
        [np.concatenate(list(store.layer(layer).blocks(real.test_rows[chosen]))) for layer in range(store.n_layers)]
    )
    projection = principal_components(vectors)
    items = real.test_items[chosen]
    words = tuple(dataset.word(int(i)) or "" for i in items)
    return TaskMap(
        task=dataset.name,
        points=projection.points,
        explained=projection.explained,
        cka=cka_matrix_of(vectors),
        texts=tuple(dataset.texts[dataset.text_of[i]] for i in items),
        words=None if dataset.level == "sentence" else words,
        labels=tuple(dataset.labels[i] for i in items),
    )
