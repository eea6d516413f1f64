"""A whole study: tasks x layers, encoded once, probed layer by layer, told as it goes.

``run`` is a generator of events: a page shows each as it comes and stops by not asking for more. ``probe`` is
the same for one task, for notebooks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal

import numpy as np
import pandas as pd

from analysis.probing.cka import cka_matrix_of
from analysis.probing.classifier import (
    bootstrap_interval,
    fit,
    majority_accuracy,
    one_thread,
    word_accuracy,
)
from analysis.probing.control import control_task
from analysis.probing.data import BoolArray, Dataset, IntArray, Level, Task, checked, sample
from analysis.probing.features import Encode, Pieces, Plan, Pooling, Vectors, VectorStore, groups
from analysis.probing.layers import centre_of_gravity, expected_layer
from analysis.probing.mdl import description_length
from analysis.probing.pca import principal_components
from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.types import FloatArray

Stage = Literal["encoding", "probing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to probe; all of it, with the seed, goes into the link and the table, so that a run can be
    repeated.

    ``sentences`` a task (training and test together). ``pooling`` makes a sentence's vector, ``pieces`` a
    word's. ``control`` and ``mdl`` add the control task and the description length, ``wrong`` that many
    wrongly judged examples a layer, ``map_items`` that many test items in the picture of a layer.
    """

    sentences: int = 1000
    pooling: Pooling = "mean"
    pieces: Pieces = "mean"
    control: bool = True
    mdl: bool = False
    seed: int = 0
    bootstrap_draws: int = 1000
    wrong: int = 10
    map_items: int = 300

    def __post_init__(self) -> None:
        if self.pooling not in ("mean", "cls", "max") or self.pieces not in ("first", "mean"):
            raise InvalidInput('Pooling is "mean", "cls" or "max", pieces are "first" or "mean".')
        if self.sentences < 1 or self.bootstrap_draws < 1 or self.map_items < 2 or self.wrong < 0:
            raise InvalidInput("Sentences, bootstrap draws and examples must be positive numbers.")
        if self.seed < 0:
            raise InvalidInput("The seed must be a whole number from 0 up.")


@dataclass(frozen=True, slots=True)
class WrongExample:
    """A test item judged wrongly, with the probability the probe gave to its own answer."""

    text: str
    word: str | None
    label: str
    predicted: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """One probe: a task at a layer (0 are the embeddings). Accuracies are shares in [0, 1] of the test items.

    ``low`` and ``high`` are the 95 % bootstrap interval. ``selectivity`` is accuracy - control_accuracy; bits
    are the description length, ``compression`` how many times shorter than the uniform code. None: not asked.
    """

    task: str
    layer: int
    accuracy: float
    low: float
    high: float
    control_accuracy: float | None
    selectivity: float | None
    bits: float | None
    compression: float | None
    wrong: tuple[WrongExample, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """All layers of a task, and what they are measured against.

    ``majority`` is the accuracy of always giving the most frequent label, ``word_only`` of a judge that sees
    only the word (None at sentence level). ``skipped`` items had no vector (beyond the model's limit). The longest text
    was read as ``longest`` tokens.
    """

    task: str
    level: Level
    labels: tuple[str, ...]
    n_train: int
    n_test: int
    majority: float
    word_only: float | None
    expected_layer: float | None
    centre_of_gravity: float | None
    layers: tuple[LayerResult, ...]
    skipped: int
    longest: int
    notes: tuple[str, ...]
    settings: Settings

    @property
    def best(self) -> LayerResult:
        """The layer of the highest accuracy, the lowest among equals."""
        return max(self.layers, key=lambda layer: (layer.accuracy, -layer.layer))

    def to_frame(self) -> pd.DataFrame:
        """One row a layer, with the baselines and the settings in each row."""
        shared = {
            "level": self.level,
            "classes": len(self.labels),
            "n_train": self.n_train,
            "n_test": self.n_test,
            "majority": self.majority,
            "word_only": self.word_only,
            "expected_layer": self.expected_layer,
            "centre_of_gravity": self.centre_of_gravity,
        }
        numbers = [field.name for field in fields(LayerResult) if field.name != "wrong"]
        rows = [
            {**{name: getattr(layer, name) for name in numbers}, **shared, **asdict(self.settings)}
            for layer in self.layers
        ]
        return pd.DataFrame(rows)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is: ``done`` of ``total`` sentences of these tasks encoded, or layers of the task
    probed."""

    tasks: tuple[str, ...]
    stage: Stage
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMap:
    """Some test items of a task, seen in each layer: their two principal components and the layers' likeness.

    points (layers + 1, n, 2), explained (layers + 1, 2), cka (layers + 1, layers + 1); texts, words and
    labels have length n (words is None at sentence level).
    """

    task: str
    points: FloatArray
    explained: FloatArray
    cka: FloatArray
    texts: tuple[str, ...]
    words: tuple[str, ...] | None
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A task that could not be done, and why, in words for the screen. The other tasks go on."""

    task: str
    reason: str


Event = Progress | TaskMap | LayerResult | TaskResult | Failed


def run(encode: Encode, tasks: Iterable[Task | Dataset], settings: Settings | None = None) -> Iterator[Event]:
    """Probe every layer for every task; yields what is done as it is done.

    ``encode`` maps texts to (index, HiddenStates) pairs, for the engine ``functools.partial(
    engine.iter_hidden_states, model)``. Tasks that share texts are encoded together; vectors of one such
    group are held at a time. For each task come its map, then a ``LayerResult`` a layer, then the
    ``TaskResult``; ``Failed`` instead where its data or the model do not allow it. Stopping early removes
    temporary files.
    """
    settings = settings or Settings()
    datasets: list[Dataset] = []
    for task in tasks:
        try:
            datasets.append(_prepared(task, settings))
        except ModelZooError as error:
            yield Failed(task.name, str(error))
    for members in groups(datasets):
        yield from _run_group(encode, [datasets[i] for i in members], settings)


def probe(encode: Encode, task: Task | Dataset, **settings: object) -> TaskResult:
    """Probe every layer for one task; ``settings`` are the fields of ``Settings``. Raises InvalidInput.

    >>> from functools import partial
    >>> from analysis.probing import TASKS, probe
    >>> from model_zoo import Engine
    >>> encode = partial(Engine().iter_hidden_states, "embedded/bert")
    >>> result = probe(encode, TASKS["word_content"], sentences=200)
    >>> result.best.accuracy > 3 * result.majority
    True
    >>> result.to_frame()[["task", "layer", "classes", "n_test"]].head(2)
               task  layer  classes  n_test
    0  word_content      0       20      60
    1  word_content      1       20      60
    """
    chosen = Settings(**settings)  # type: ignore[arg-type]
    for event in _run_group(encode, [_prepared(task, chosen)], chosen, reraise=True):
        if isinstance(event, TaskResult):
            return event
    raise AssertionError("a group of one task ends with its result or an error")


def frame(results: Sequence[TaskResult]) -> pd.DataFrame:
    """All results as one table: one row a task and layer."""
    return pd.concat([result.to_frame() for result in results], ignore_index=True)


def _prepared(task: Task | Dataset, settings: Settings) -> Dataset:
    if isinstance(task, Task):
        return checked(task.build(settings.sentences, settings.seed))
    return checked(sample(task, settings.sentences, settings.seed))


def _run_group(
    encode: Encode, datasets: Sequence[Dataset], settings: Settings, *, reraise: bool = False
) -> Iterator[Event]:
    """Encode the texts these data sets share, then probe one after the other."""
    names = tuple(dataset.name for dataset in datasets)
    plan = Plan(datasets)
    try:
        store, n_tokens = yield from _encoded(plan, encode, names, settings)
    except ModelZooError as error:
        if reraise:
            raise
        yield from (Failed(name, str(error)) for name in names)
        return
    with store:
        for dataset, rows in zip(datasets, plan.rows_of, strict=True):
            try:
                yield from _run_task(dataset, rows, n_tokens, store, settings)
            except ModelZooError as error:
                if reraise:
                    raise
                yield Failed(dataset.name, str(error))


def _encoded(
    plan: Plan, encode: Encode, names: tuple[str, ...], settings: Settings
) -> Generator[Event, None, tuple[VectorStore, IntArray]]:
    """Fill the plan's store, telling the progress."""
    filling = plan.fill(encode, settings.pooling, settings.pieces)
    yield Progress(names, "encoding", 0, len(plan.texts))
    try:
        while True:
            try:
                done = next(filling)
            except StopIteration as end:
                found: tuple[VectorStore, IntArray] = end.value
                return found
            yield Progress(names, "encoding", done, len(plan.texts))
    finally:
        filling.close()


@dataclass(frozen=True, slots=True)
class _Judged:
    """A split with label numbers: rows of the store and labels, for training and test, and test items."""

    train_rows: IntArray
    train: IntArray
    test_rows: IntArray
    test: IntArray
    test_items: IntArray


def _split(rows: IntArray, labels: IntArray, in_test: BoolArray) -> _Judged:
    items = np.arange(len(rows))
    return _Judged(rows[~in_test], labels[~in_test], rows[in_test], labels[in_test], items[in_test])


def _run_task(
    dataset: Dataset, rows: IntArray, n_tokens: IntArray, store: VectorStore, settings: Settings
) -> Iterator[Event]:
    """Map, layers and result of one task whose items' vectors lie in these rows of the store; ``n_tokens`` are those of
    each row's text, 0 where it has no vector.
    """
    has_vector = n_tokens[rows] > 0
    skipped = int((~has_vector).sum())
    notes = dataset.notes
    if skipped:
        dataset = checked(dataset.select(np.ones(len(dataset.texts), dtype=bool), has_vector))
        rows = rows[has_vector]
        if len(rows) != len(dataset):  # a label was left with a single example and dropped
            raise InvalidInput(
                f"{skipped} items of {dataset.name} lie beyond the model's limit of tokens, and too few of a "
                "label are left. Use shorter sentences."
            )
        notes = (*dataset.notes, f"{skipped} items had no vector: the model's limit of tokens cut them off.")
    names = tuple(sorted(set(dataset.labels)))
    number = {label: i for i, label in enumerate(names)}
    labels = np.array([number[label] for label in dataset.labels], dtype=np.int64)
    real = _split(rows, labels, dataset.item_in_test)
    with one_thread():
        picture = _map(dataset, real, store, settings)
    yield picture

    control = None
    if settings.control:
        task = control_task(dataset, labels, settings.seed)
        control = _split(rows, task.labels, task.in_test)
    word_only = None
    if dataset.level == "token":
        words = [(dataset.word(i) or "").lower() for i in range(len(dataset))]
        train_items = np.flatnonzero(~dataset.item_in_test)
        word_only = word_accuracy(
            [words[i] for i in train_items], real.train, [words[i] for i in real.test_items], real.test
        )
    results = []
    for layer in range(store.n_layers):
        with one_thread():
            result = _probe_layer(dataset, names, real, control, store.layer(layer), layer, settings)
        results.append(result)
        yield result
        yield Progress((dataset.name,), "probing", layer + 1, store.n_layers)
    majority = majority_accuracy(real.train, real.test)
    scores = [result.accuracy for result in results]
    yield TaskResult(
        task=dataset.name,
        level=dataset.level,
        labels=names,
        n_train=len(real.train),
        n_test=len(real.test),
        majority=majority,
        word_only=word_only,
        expected_layer=expected_layer(scores),
        centre_of_gravity=centre_of_gravity(scores, majority),
        layers=tuple(results),
        skipped=skipped,
        longest=int(n_tokens[rows].max()),
        notes=notes,
        settings=settings,
    )


def _probe_layer(
    dataset: Dataset,
    names: Sequence[str],
    real: _Judged,
    control: _Judged | None,
    vectors: Vectors,
    layer: int,
    settings: Settings,
) -> LayerResult:
    fitted = fit(vectors, real.train_rows, real.train, len(names))
    log_p = fitted.log_probabilities(vectors, real.test_rows)
    predicted = log_p.argmax(axis=1)
    correct = predicted == real.test
    groups_of_items = dataset.text_of[real.test_items]
    low, high = bootstrap_interval(correct, groups_of_items, draws=settings.bootstrap_draws, seed=settings.seed)
    accuracy = float(correct.mean())
    control_accuracy = None
    if control is not None:
        memorized = fit(vectors, control.train_rows, control.train, len(names))
        guessed = memorized.log_probabilities(vectors, control.test_rows).argmax(axis=1)
        control_accuracy = float((guessed == control.test).mean())
    code = None
    if settings.mdl:
        code = description_length(vectors, real.train_rows, real.train, len(names), settings.seed)
    certainty = np.where(correct, -np.inf, log_p.max(axis=1))
    worst = np.argsort(-certainty, kind="stable")[: min(settings.wrong, int((~correct).sum()))]
    return LayerResult(
        task=dataset.name,
        layer=layer,
        accuracy=accuracy,
        low=low,
        high=high,
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
                probability=float(np.exp(log_p[i, predicted[i]])),
            )
            for i in worst
        ),
    )


def _map(dataset: Dataset, real: _Judged, store: VectorStore, settings: Settings) -> TaskMap:
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
