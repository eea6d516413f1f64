"""A job that asks about many items: a part of an answer a step, others in between, and how much time is left."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from evidence.items import Head, LeftOut
from evidence.material import Material
from evidence.questions.head_gradients import Gradients, HeadGradients
from evidence.questions.switch_off import SwitchedOff, SwitchOff
from jobs.job import Job, time_left
from model_zoo.engine_interface import EngineInterface
from model_zoo.types import FloatArray

_SEED: Final = 35
_OF_GRADIENTS: Final = 3  # passes that taking gradients is worth


@dataclass
class Answers:
    """What is known so far of some items: ``places`` among those of the material, and for each set of heads, first
    none, their scores and whether they are right, a column an item. ``left_out`` are places and reasons.
    """

    places: list[int] = field(default_factory=list)
    left_out: list[tuple[int, LeftOut]] = field(default_factory=list)
    _scores: list[FloatArray] = field(default_factory=list)
    _right: list[FloatArray] = field(default_factory=list)

    def add(self, places: Sequence[int], found: SwitchedOff) -> None:
        """Note the answers of the items at these places."""
        self._scores.append(found.scores)
        self._right.append(found.right)
        self.left_out += [(places[place], why) for place, why in found.left_out]
        self.places += places  # last, so that a reader at the same time has an answer for each

    def __len__(self) -> int:
        return len(self.places)

    @property
    def scores(self) -> FloatArray:
        """(1 + sets, items)"""
        return np.concatenate(self._scores, axis=1)[:, : len(self.places)]

    @property
    def right(self) -> FloatArray:
        """(1 + sets, items)"""
        return np.concatenate(self._right, axis=1)[:, : len(self.places)]


class Switching(Job):
    """Asks one model about a material; ``_all`` is how much there is to do, in items and sets of heads."""

    def __init__(self, engine: EngineInterface, model: str, material: Material) -> None:
        super().__init__()
        self.model, self.material = model, material
        self._engine = engine
        self._done = self._all = 0.0
        self._seconds = 0.0

    @property
    def share(self) -> float:
        return min(1.0, self._done / self._all) if self._all else 0.0

    @property
    def time_left(self) -> str:
        """In words, once it can be told."""
        return time_left(self._seconds, self.share)

    def _chunks(self, places: Sequence[int], size: int) -> Iterator[list[int]]:
        """The places in a random order, so many at a time: what is known when the job is stopped is a fair sample."""
        order = np.random.default_rng(_SEED).permutation(len(places))
        shuffled = [places[place] for place in order]
        for start in range(0, len(shuffled), size):
            yield shuffled[start : start + size]

    def _switched_off(
        self, places: Sequence[int], sets: Sequence[tuple[Head, ...]]
    ) -> Generator[None, None, SwitchedOff]:
        question = SwitchOff(self.model, self.material.some(places), tuple(sets))
        found: SwitchedOff = yield from self._ask(question, len(places) * (1 + len(sets)))
        return found

    def _gradients(self, places: Sequence[int]) -> Generator[None, None, Gradients]:
        question = HeadGradients(self.model, self.material.some(places))
        found: Gradients = yield from self._ask(question, len(places) * _OF_GRADIENTS)
        return found

    def _ask(self, question: SwitchOff | HeadGradients, worth: int) -> Generator[None, None, Any]:
        """The answer, a part a step; it is ``worth`` so many items and sets."""
        parts: list[Any] = []
        end = self._done + worth
        with closing(self._engine.stream(question)) as stream:
            while True:
                began = time.monotonic()
                part = next(stream, None)
                self._seconds += time.monotonic() - began
                if part is None:
                    break
                parts.append(part)
                self._done = min(end, self._done + len(set(part.items)))
                yield
        self._done = end
        return question.combine(parts)
