"""A whole study: tasks x layers, encoded once, probed layer by layer, reported as it goes.

``run`` is a generator of events: a page shows each as it comes and stops by not asking for more. ``probe`` is
the same for one task, for notebooks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace

from analysis.probing.baselines import baseline_answers
from analysis.probing.classifier import one_thread
from analysis.probing.control import control_task
from analysis.probing.data import Dataset, Task, checked, resplit, sample
from analysis.probing.features import Encode, Plan, VectorStore, as_events, groups
from analysis.probing.judging import (
    Fitted,
    Subject,
    choose_one_c,
    fit_all,
    layer_result,
    split_items,
    subject_of,
    task_map,
    task_result,
)
from analysis.probing.results import Event, Failed, Progress, TaskResult
from analysis.probing.settings import Settings
from model_zoo.errors import ModelZooError
from model_zoo.types import IntArray


def run(
    encode: Encode,
    tasks: Iterable[Task | Dataset],
    settings: Settings | None = None,
    *,
    untrained: Encode | None = None,
) -> Iterator[Event]:
    """Probe every layer for every task; yields each result as soon as it is there.

    ``encode`` maps texts to (index, HiddenStates) pairs, for the engine ``functools.partial(
    engine.iter_hidden_states, model)``; ``untrained`` does so with random weights, where the settings ask for them.
    Tasks of the same texts are encoded together; vectors of one such group are held at a time. For each task come its
    map, then a ``LayerResult`` per layer, then the ``TaskResult``; ``Failed`` instead where its data or the model do
    not allow it. Stopping early removes temporary files. A task's numbers depend on its own data, the model and the
    settings, not on the other tasks.
    """
    settings = settings or Settings()
    requested: list[Task | Dataset] = []
    datasets: list[Dataset] = []
    for task in tasks:
        try:
            datasets.append(_prepared(task, settings, 0))
            requested.append(task)
        except ModelZooError as error:
            yield Failed(task.name, str(error))
    for members in groups(datasets):
        study = _Study(encode, untrained, settings, [requested[i] for i in members])
        yield from study.run([datasets[i] for i in members])


def probe(
    encode: Encode, task: Task | Dataset, *, untrained_encode: Encode | None = None, **settings: object
) -> TaskResult:
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
    study = _Study(encode, untrained_encode, chosen, [task], reraise=True)
    for event in study.run([_prepared(task, chosen, 0)]):
        if isinstance(event, TaskResult):
            return event
    raise AssertionError("a group of one task ends with its result or an error")


def _prepared(task: Task | Dataset, settings: Settings, repeat: int) -> Dataset:
    """The data of a task for one of the seeds: other sentences, or another split of the same ones."""
    seed = settings.seed + repeat
    if isinstance(task, Task):
        return checked(task.build(settings.sentences, seed))
    return checked(sample(resplit(task, seed) if repeat else task, settings.sentences, seed))


def encoded(
    plan: Plan, encode: Encode, names: tuple[str, ...], settings: Settings, of: str
) -> Generator[Progress, None, tuple[VectorStore, IntArray]]:
    """Fill the plan's store, telling the progress; returns what ``Plan.fill`` does."""

    def progress(done: int) -> Progress:
        return Progress(names, "encoding", done, len(plan.texts), of)

    yield progress(0)
    return (yield from as_events(plan.fill(encode, settings.pooling, settings.pieces), progress))


class _Study:
    """One group of tasks on the same texts: with random weights, as it is, and with the other seeds."""

    def __init__(
        self,
        encode: Encode,
        untrained: Encode | None,
        settings: Settings,
        tasks: Sequence[Task | Dataset],
        *,
        reraise: bool = False,
    ) -> None:
        if settings.untrained and untrained is None:
            raise ValueError("random weights are asked for, but nothing encodes with them")
        self.encode, self.untrained, self.settings = encode, untrained, settings
        self.tasks, self.reraise = tasks, reraise
        self.failed: set[str] = set()
        self.by_chance: dict[str, tuple[Fitted, ...]] = {}  # the probes of each layer with random weights
        self.results: dict[str, TaskResult] = {}

    def run(self, datasets: Sequence[Dataset]) -> Iterator[Event]:
        """All rounds; a task that fails in one of them is left out of the others."""
        if self.settings.untrained and self.untrained is not None:
            yield from self._round(self.untrained, datasets, "random weights", 0)
        yield from self._round(self.encode, self._left(datasets), "", 0)
        if self.settings.seeds > 1:
            yield from self._repeats()
        yield from self.results.values()

    def _left(self, datasets: Sequence[Dataset]) -> list[Dataset]:
        return [dataset for dataset in datasets if dataset.name not in self.failed]

    def _fail(self, name: str, error: ModelZooError) -> Failed:
        if self.reraise:
            raise error
        self.failed.add(name)
        self.results.pop(name, None)
        return Failed(name, str(error))

    def _repeats(self) -> Iterator[Event]:
        for repeat in range(1, self.settings.seeds):
            datasets = []
            for task in self.tasks:
                if task.name not in self.failed:
                    try:
                        datasets.append(_prepared(task, self.settings, repeat))
                    except ModelZooError as error:
                        yield self._fail(task.name, error)
            for members in groups(datasets):
                which = f"seed {self.settings.seed + repeat}"
                yield from self._round(self.encode, [datasets[i] for i in members], which, repeat)

    def _round(self, encode: Encode, datasets: Sequence[Dataset], of: str, repeat: int) -> Iterator[Event]:
        """Encode the texts these data sets share, then probe one after the other."""
        if not datasets:
            return
        names = tuple(dataset.name for dataset in datasets)
        plan = Plan(datasets)
        try:
            store, n_tokens = yield from encoded(plan, encode, names, self.settings, of)
        except ModelZooError as error:
            for name in names:
                yield self._fail(name, error)
            return
        with store:
            for dataset, rows in zip(datasets, plan.rows_of, strict=True):
                try:
                    subject = subject_of(dataset, rows, n_tokens)
                    if of:
                        yield from self._again(subject, store, of, repeat)
                    else:
                        yield from self._task(subject, store)
                except ModelZooError as error:
                    yield self._fail(dataset.name, error)

    def _fitted(
        self, subject: Subject, store: VectorStore, of: str, seed: int, of_steps: int
    ) -> Generator[Progress, None, tuple[Fitted, ...]]:
        """Fits every layer's probe; the last layer is step ``store.n_layers`` of ``of_steps``."""
        layers = []
        for layer in range(store.n_layers):
            with one_thread():
                layers.append(fit_all(store.layer(layer), subject.real, len(subject.names), self.settings, seed))
            yield Progress((subject.dataset.name,), "probing", layer + 1, of_steps, of)
        return choose_one_c(layers)

    def _again(self, subject: Subject, store: VectorStore, of: str, repeat: int) -> Iterator[Event]:
        """The probes of a round other than the first."""
        name = subject.dataset.name
        fitted = yield from self._fitted(subject, store, of, self.settings.seed + repeat, store.n_layers)
        if repeat:
            result, accuracies = self.results[name], tuple(float(probe.correct.mean()) for probe in fitted)
            self.results[name] = replace(result, accuracies=(*result.accuracies, accuracies))
        else:
            self.by_chance[name] = fitted

    def _task(self, subject: Subject, store: VectorStore) -> Iterator[Event]:
        """Map, layers and result of one task, the result kept until the other seeds are done."""
        settings, dataset, n_layers = self.settings, subject.dataset, store.n_layers
        with one_thread():
            picture = task_map(dataset, subject.real, store, settings)
        yield picture
        control = None
        if settings.control:
            task = control_task(dataset, subject.labels, settings.seed)
            control = split_items(subject.rows, task.labels, task.split)
        by_chance = self.by_chance.get(dataset.name)
        fitted = yield from self._fitted(subject, store, "", settings.seed, 2 * n_layers)
        layers = []
        for layer in range(n_layers):
            with one_thread():
                result = layer_result(subject, control, store.layer(layer), layer, fitted[layer], settings)
            if by_chance:
                result = replace(result, untrained_accuracy=float(by_chance[layer].correct.mean()))
            layers.append(result)
            yield result
            yield Progress((dataset.name,), "probing", n_layers + layer + 1, 2 * n_layers)
        with one_thread():
            judges = baseline_answers(dataset, subject.labels)
        self.results[dataset.name] = task_result(subject, layers, fitted, by_chance, judges, settings)
