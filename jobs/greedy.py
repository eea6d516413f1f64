"""Heads switched off one after the other: the fewest whose loss changes an answer, and how many can go before it does.
A job.

Always the head whose loss moves the answer most, or least, beside those that are off already: a greedy search, which
may miss a smaller set.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from analysis.effects import measured, same_answer
from jobs.job import Job
from model_zoo.engine_interface import EngineInterface
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, Effects
from model_zoo.types.shows import DataFrame, Shows, table, whole_numbers

Head = tuple[int, int]
Order = Literal["worst first", "least first", "random"]
ORDERS: Final[tuple[Order, ...]] = ("worst first", "least first", "random")

_RANDOM_ORDERS: Final = 5
_SEED: Final = 18


@dataclass(slots=True)
class Path(Shows):
    """Heads in the order in which they went, and P of the answer with the first 0, 1, 2, … of them off; ``changed``
    once the answer is another one.
    """

    heads: list[Head]
    probabilities: list[float]
    changed: bool = False

    def to_frame(self) -> DataFrame:
        """One row a step: heads_off, layer and head of the one that went last (missing at first), probability."""
        gone = [None, *self.heads][: len(self.probabilities)]
        return table(
            {
                "heads_off": range(len(self.probabilities)),
                "layer": whole_numbers([None if one is None else one[0] for one in gone]),
                "head": whole_numbers([None if one is None else one[1] for one in gone]),
                "probability": self.probabilities,
            }
        )


class Greedy(Job):
    """A search on one question, which says what is asked and has no changes of its own."""

    doing = "looking for heads that matter"

    def __init__(self, engine: EngineInterface, question: Intervene, heads: Sequence[Head]) -> None:
        super().__init__()
        self.question = replace(question, changes=(), top_k=1)
        self.heads = tuple(heads)
        self.paths: dict[Order, Path] = {}
        self.random: list[float] = []
        self._engine = engine
        self._order: Order = "worst first"

    @property
    def share(self) -> float:
        """Of the heads there are: a search ends when the answer changes, mostly before they are all off."""
        done = {order: len(path.heads) / len(self.heads) for order, path in self.paths.items()}
        worst, least = self.paths.get("worst first"), done.get("least first", 0.0)
        return (0.3 if worst is not None and worst.changed else 0.3 * done.get("worst first", 0.0)) + 0.6 * least

    @property
    def progress(self) -> str:
        path = self.paths.get(self._order)
        n = 0 if path is None else len(path.heads)
        said = {
            "worst first": f"The fewest heads that change the prediction: {n} off so far.",
            "least first": f"How many can be removed before it changes: {n} off so far.",
            "random": "The same in random orders.",
        }
        return said[self._order]

    @property
    def n_ended(self) -> int:
        return sum(path.changed for path in self.paths.values())

    def steps(self) -> Generator[None, None, None]:
        for order in ORDERS[:2]:
            self._order = order
            yield from self._search(order)
        self._order = "random"
        yield from self._at_random()

    def _ask(self, changes: Sequence[Change]) -> Generator[None, None, Effects]:
        pieces: list[Effects] = []
        with closing(self._engine.stream(replace(self.question, changes=tuple(changes)))) as found:
            for piece in found:
                pieces.append(piece)
                yield
        return self.question.combine(pieces)

    def _search(self, order: Order) -> Generator[None, None, None]:
        off: list[Head] = []
        path = self.paths[order] = Path(off, [])
        while len(off) < len(self.heads) and not path.changed:
            left = [head for head in self.heads if head not in off]
            effects = yield from self._ask([Change(heads=(*off, head)) for head in left])
            if not path.probabilities:
                path.probabilities.append(measured(effects.untouched, "probability"))
            logs = [reading.log_probability for reading in effects.readings]
            at = int(np.argmin(logs) if order == "worst first" else np.argmax(logs))
            off.append(left[at])
            path.probabilities.append(measured(effects.readings[at], "probability"))
            path.changed = not same_answer(effects, effects.readings[at])

    def _at_random(self) -> Generator[None, None, None]:
        """P with the first heads of random orders off, as many as the longest search went; the mean of some orders."""
        n = max(len(path.heads) for path in self.paths.values())
        rng = np.random.default_rng(_SEED)
        curves = []
        for _ in range(_RANDOM_ORDERS):
            drawn = [self.heads[place] for place in rng.permutation(len(self.heads))[:n]]
            effects = yield from self._ask([Change(heads=tuple(drawn[:k])) for k in range(1, n + 1)])
            every = (effects.untouched, *effects.readings)
            curves.append([measured(reading, "probability") for reading in every])
        self.random = np.mean(curves, axis=0).tolist()
