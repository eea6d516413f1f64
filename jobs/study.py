"""Probes on the layers of a model, for some tasks: a job. Also what its results are and what they depend on."""

from __future__ import annotations

import functools
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from analysis.probing import (
    Dataset,
    Event,
    Failed,
    LayerResult,
    Progress,
    Settings,
    StructuralLayer,
    StructuralResult,
    StructuralTask,
    Task,
    TaskMap,
    TaskResult,
    run,
    structural_study,
)
from analysis.probing.features import Encode
from jobs.job import Job, Stopped
from model_zoo.types import HiddenStates, ModelInfo

T = TypeVar("T", bound="Task | Dataset | StructuralTask")

# What can be probed: tasks with labels, and the structural probe.
Probed = Task | Dataset | StructuralTask

MOST_RESULTS = 100
"""Results that a visit keeps: a run has as many as there are tasks, about a dozen."""

_ENCODING_SHARE = 0.8  # of a task's time, roughly: what the progress bar counts for it


@dataclass(frozen=True, slots=True)
class Key:
    """What a result depends on. ``task`` is a built-in task's name, or a fingerprint of the visitor's own data."""

    model: str
    task: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class Finished:
    """A task that is done, on the model as it was loaded; ``title`` is what the screen calls it.

    ``precomputed`` results came with the app.
    """

    title: str
    model: ModelInfo
    picture: TaskMap
    result: TaskResult
    precomputed: bool = False


@dataclass(frozen=True, slots=True)
class FoundTrees:
    """A structural probe that is done, as ``Finished``; none comes with the app."""

    title: str
    model: ModelInfo
    result: StructuralResult
    precomputed: bool = False


Results = dict[Key, Finished | FoundTrees]


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one task is: ``share`` in [0, 1] of its work, in words, and the layers that are done."""

    words: str
    share: float
    layers: tuple[LayerResult | StructuralLayer, ...]


class Study(Job):
    """One run over those of some tasks whose results are neither there yet nor ``known`` from elsewhere.

    Finished tasks are put into ``results``, which a visitor's studies hand on to each other. ``untrained`` encodes with
    random weights, where the settings ask for them. ``titles`` is what the screen calls the tasks, by name.
    ``requested`` are all tasks it was made with.
    """

    doing = "probing"

    def __init__(
        self,
        model: ModelInfo,
        encode: Encode,
        untrained: Encode,
        tasks: Mapping[Key, Probed],
        titles: Mapping[str, str],
        settings: Settings,
        results: Results,
        known: Collection[Key] = (),
    ) -> None:
        super().__init__()
        self.model, self.titles, self.results, self.requested = model, titles, results, tuple(tasks)
        missing = {key: task for key, task in tasks.items() if key not in results and key not in known}
        self._probed, self._settings = list(missing.values()), settings
        self._failed: dict[str, str] = {}
        self._began = time.monotonic()
        self._keys = {task.name: key for key, task in missing.items()}
        self._making: str | None = None  # the task whose sentences are drawn
        self._encoded = 0  # sentences since the last event
        self._last: dict[str, Progress] = {}
        self._layers: dict[str, list[LayerResult | StructuralLayer]] = {name: [] for name in self._keys}
        self._pictures: dict[str, TaskMap] = {}
        self._rounds = settings.seeds + settings.untrained  # each encodes and probes
        self._begun: dict[str, set[str]] = {name: set() for name in self._keys}
        self._encode, self._untrained = (functools.partial(self._watched, encoder) for encoder in (encode, untrained))

    @property
    def tasks(self) -> Sequence[str]:
        """The names of those it runs."""
        return list(self._keys)

    @property
    def failed(self) -> Mapping[str, str]:
        """Why tasks could not be done, by name."""
        if self.failure is None:
            return self._failed
        return {name: self.failure for name, key in self._keys.items() if key not in self.results} | self._failed

    @property
    def share(self) -> float:
        return sum(self.standing(task).share for task in self._keys) / max(len(self._keys), 1)

    @property
    def progress(self) -> str:
        return f"{self.share:.0%} done, {time.monotonic() - self._began:,.0f} s"

    @property
    def n_ended(self) -> int:
        """How many tasks are done or have failed."""
        return sum(name in self.failed or key in self.results for name, key in self._keys.items())

    def standing(self, task: str) -> Standing:
        layers = tuple(self._layers[task])
        if task in self.failed:
            return Standing("could not be done", 1.0, layers)
        if self._keys[task] in self.results:
            return Standing("done", 1.0, layers)
        last = self._last.get(task)
        if not self.running:
            return Standing("stopped", 0.0, layers)
        if last is None:
            return Standing("making the sentences" if task == self._making else "waiting", 0.0, layers)
        if last.stage == "encoding":
            done = min(last.done + self._encoded, last.total)
            words = f"encoding, {done:,} of {last.total:,} sentences"
            if done == last.total:
                words = "encoded"
            share = _ENCODING_SHARE * done / max(last.total, 1)
        else:
            words = f"probing, {last.done / last.total:.0%}"
            share = _ENCODING_SHARE + (1 - _ENCODING_SHARE) * last.done / last.total
        before = len(self._begun[task]) - 1
        return Standing(f"{last.of}: {words}" if last.of else words, (before + share) / self._rounds, layers)

    def steps(self) -> Generator[None, None, None]:
        with closing(self._events()) as events:
            for event in events:
                self._note(event)
                yield

    def _events(self) -> Generator[Event | structural_study.StructuralEvent, None, None]:
        """Gives the events of the tasks with labels, then those of the structural probes."""
        labelled = [task for task in self._probed if not isinstance(task, StructuralTask)]
        trees = [task for task in self._probed if isinstance(task, StructuralTask)]
        settings, untrained = self._settings, self._untrained
        yield from run(self._encode, self._handed_out(labelled), settings, untrained=untrained)
        yield from structural_study.run(self._encode, self._handed_out(trees), settings, untrained=untrained)

    def _handed_out(self, tasks: Iterable[T]) -> Iterator[T]:
        """The tasks, as the run asks for one after the other to draw their sentences."""
        for task in tasks:
            if self.stopping:
                raise Stopped
            self._making = task.name
            yield task
        self._making = None

    def _watched(self, encode: Encode, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        """An encoder, counted and left as soon as the run is stopped."""
        for encoded in encode(texts):
            if self.stopping:
                raise Stopped
            self._encoded += 1
            yield encoded

    def _note(self, event: Event | structural_study.StructuralEvent) -> None:
        match event:
            case Progress():
                self._encoded = 0
                for task in event.tasks:
                    self._last[task] = event
                    self._begun[task].add(event.of)
            case TaskMap():
                self._pictures[event.task] = event
            case LayerResult() | StructuralLayer():
                self._layers[event.task].append(event)
            case TaskResult():
                picture = self._pictures.pop(event.task)
                self._keep(event.task, Finished(self.titles[event.task], self.model, picture, event))
            case StructuralResult():
                self._keep(event.task, FoundTrees(self.titles[event.task], self.model, event))
            case Failed():
                self._failed[event.task] = event.reason

    def _keep(self, task: str, result: Finished | FoundTrees) -> None:
        """Put a result in; the oldest of this visit leave where there are too many."""
        self.results[self._keys[task]] = result
        while len(self.results) > MOST_RESULTS:
            del self.results[next(iter(self.results))]
