"""A probing run in the background: it goes on while people look at other pages, and can be stopped.

All visitors share one worker. Their runs take turns, one event each, so that thirty runs at once need no more
processors than one, and a short run does not wait for a long one to end.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from model_zoo.types import HiddenStates, ModelInfo
from ui.background import BackgroundWork

T = TypeVar("T", bound="Task | Dataset | StructuralTask")

_log = logging.getLogger(__name__)
_WORKER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="probing")
_RUNNING: set[Study] = set()
# What can be probed: tasks with labels, and the structural probe.
Probed = Task | Dataset | StructuralTask

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


class _Stopped(Exception):
    """Leaves the run from the inside of the encoder; no other failure looks like it."""


class Study(BackgroundWork):
    """One run over some tasks; finished tasks are put into ``results`` as they are done.

    ``untrained`` encodes with random weights, where the settings ask for them. ``titles`` is what the screen calls the
    tasks, by name. ``failed`` says of tasks why they could not be done.
    """

    def __init__(
        self,
        model: ModelInfo,
        encode: Encode,
        untrained: Encode,
        tasks: Mapping[Key, Probed],
        titles: Mapping[str, str],
        settings: Settings,
        results: Results,
    ) -> None:
        super().__init__()
        self.model, self.titles = model, titles
        self.failed: dict[str, str] = {}
        self._began = time.monotonic()
        self._keys = {task.name: key for key, task in tasks.items()}
        self._results = results
        self._making: str | None = None  # the task whose sentences are drawn
        self._encoded = 0  # sentences since the last event
        self._last: dict[str, Progress] = {}
        self._layers: dict[str, list[LayerResult | StructuralLayer]] = {name: [] for name in self._keys}
        self._pictures: dict[str, TaskMap] = {}
        self._rounds = settings.seeds + settings.untrained  # each encodes and probes
        self._begun: dict[str, set[str]] = {name: set() for name in self._keys}
        watched, by_chance = (functools.partial(self._watched, one) for one in (encode, untrained))
        self._events = self._all_events(watched, by_chance, list(tasks.values()), settings)

    def start(self) -> None:
        _RUNNING.add(self)
        _WORKER.submit(self._step)

    @property
    def seconds(self) -> float:
        """Since the run was asked for."""
        return time.monotonic() - self._began

    @property
    def others(self) -> bool:
        """Whether other runs are waiting for their turns."""
        return len(_RUNNING) > 1

    @property
    def tasks(self) -> Sequence[str]:
        return list(self._keys)

    @property
    def n_ended(self) -> int:
        """How many tasks are done or have failed."""
        return sum(name in self.failed or key in self._results for name, key in self._keys.items())

    def standing(self, task: str) -> Standing:
        layers = tuple(self._layers[task])
        if task in self.failed:
            return Standing("could not be done", 1.0, layers)
        if self._keys[task] in self._results:
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
            words = f"probing, {last.done} of {last.total} layers"
            share = _ENCODING_SHARE + (1 - _ENCODING_SHARE) * last.done / last.total
        before = len(self._begun[task]) - 1
        return Standing(f"{last.of}: {words}" if last.of else words, (before + share) / self._rounds, layers)

    def _all_events(
        self, encode: Encode, untrained: Encode, tasks: Sequence[Probed], settings: Settings
    ) -> Iterator[Event | structural_study.StructuralEvent]:
        """Those of the tasks with labels, then those of the structural probes."""
        labelled = [task for task in tasks if not isinstance(task, StructuralTask)]
        trees = [task for task in tasks if isinstance(task, StructuralTask)]
        yield from run(encode, self._handed_out(labelled), settings, untrained=untrained)
        yield from structural_study.run(encode, self._handed_out(trees), settings, untrained=untrained)

    def _handed_out(self, tasks: Iterable[T]) -> Iterator[T]:
        """The tasks, as the run asks for one after the other to draw their sentences."""
        for task in tasks:
            if self.stopping:
                raise _Stopped
            self._making = task.name
            yield task
        self._making = None

    def _watched(self, encode: Encode, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        """An encoder, counted and left as soon as the run is stopped."""
        for found in encode(texts):
            if self.stopping:
                raise _Stopped
            self._encoded += 1
            yield found

    def _step(self) -> None:
        """Work until the next event, then stand in line again."""
        try:
            if self.stopping:
                raise _Stopped
            self._note(next(self._events))
        except (StopIteration, _Stopped):
            self._end()
        except Exception:
            _log.exception("unexpected failure while probing")
            for name, key in self._keys.items():
                if key not in self._results:
                    self.failed.setdefault(
                        name, "something went wrong inside the app; its log says more. Run it again."
                    )
            self._end()
        else:
            _WORKER.submit(self._step)

    def _end(self) -> None:
        self._events.close()  # type: ignore[attr-defined]  # a generator: removes its temporary files
        _RUNNING.discard(self)
        self._over.set()

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
                self._results[self._keys[event.task]] = Finished(
                    self.titles[event.task], self.model, self._pictures.pop(event.task), event
                )
            case StructuralResult():
                self._results[self._keys[event.task]] = FoundTrees(self.titles[event.task], self.model, event)
            case Failed():
                self.failed[event.task] = event.reason


class Desk:
    """A visitor's results, and the run at work or last at work. When the visit ends, its run is stopped."""

    def __init__(self) -> None:
        self.results: Results = {}
        self.study: Study | None = None
        self.keys: tuple[Key, ...] = ()

    @property
    def running(self) -> bool:
        return self.study is not None and self.study.running

    def start(
        self,
        model: ModelInfo,
        encode: Encode,
        untrained: Encode,
        tasks: Mapping[Key, Probed],
        titles: Mapping[str, str],
        settings: Settings,
        known: Collection[Key] = (),
    ) -> None:
        """Run those of the tasks whose results are neither there yet nor ``known`` from elsewhere."""
        self.keys = tuple(tasks)
        missing = {key: task for key, task in tasks.items() if key not in self.results and key not in known}
        self.study = Study(model, encode, untrained, missing, titles, settings, self.results)
        self.study.start()

    def __del__(self) -> None:
        # The worker holds on to the study alone, so the desk goes when the visitor's session goes.
        if self.study is not None:
            self.study.stop()
