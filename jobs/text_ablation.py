"""Changed runs of one text: all that a question asks for (``InterventionJob``), and heads switched off one after the
other (``GreedyJob``): the fewest whose loss changes an answer, and how many can go before it does.

The greedy search always takes the head whose loss moves the answer most, or least, beside those that are off already;
it may miss a smaller set.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Final, Literal

import numpy as np

from analysis.corpus.importance import Curve, Mean, together
from analysis.effects import measured, same_answer
from jobs.staged import StagedJob
from model_zoo.engine_interface import EngineInterface
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, Effects
from model_zoo.types.shows import DataFrame, Shows, table, whole_numbers

Head = tuple[int, int]
Order = Literal["worst first", "least first"]
_STAGES: Final[dict[Order, str]] = {
    "worst first": "The fewest heads that change the prediction",
    "least first": "How many can be removed before it changes",
}
_RANDOM_ORDERS: Final = 5
_SEED: Final = 18


class InterventionJob(StagedJob):
    """Makes changed runs. The engine remembers a whole answer: a page that waits for it asks again when it is there."""

    doing = "running a model with changes"
    unit = "run"

    def __init__(self, engine: EngineInterface, question: Intervene) -> None:
        super().__init__(engine, len(question.changes), "Running the model")
        self.question = question

    @property
    def n_ended(self) -> int:
        return 0  # the picture is drawn when it is whole

    def steps(self) -> Generator[None, None, None]:
        def note(piece: Effects) -> None:
            self.n_done += len(piece.readings)

        yield from self._read(self._engine.stream(self.question), note)


@dataclass(slots=True)
class Path(Shows):
    """Heads in the order in which they went, and P of the answer with the first 0, 1, 2, … of them off; ``changed``
    once the answer is another one.
    """

    heads: list[Head]
    probabilities: list[float]
    changed: bool = False

    def curve(self, name: str) -> Curve:
        """P over the number of heads that are off, as pruning curves are: of one text, so without intervals."""
        means = tuple(Mean(p, nan, nan, 1, 1) for p in self.probabilities)
        return Curve(name, tuple(range(len(means))), means)

    def to_frame(self) -> DataFrame:
        """One row a step: heads_off, layer and head of the one that went last (missing at first), probability."""
        last = [None, *self.heads][: len(self.probabilities)]
        return table(
            {
                "heads_off": range(len(self.probabilities)),
                "layer": whole_numbers([None if head is None else head[0] for head in last]),
                "head": whole_numbers([None if head is None else head[1] for head in last]),
                "probability": self.probabilities,
            }
        )


class GreedyJob(StagedJob):
    """A search on one question, which says what is asked and has no changes of its own. ``random`` are orders drawn at
    random, as long as the longest search.
    """

    doing = "looking for heads that matter"

    def __init__(self, engine: EngineInterface, question: Intervene, heads: Sequence[Head]) -> None:
        super().__init__(engine, stage=_STAGES["worst first"])
        self.question = replace(question, changes=(), top_k=1)
        self.heads = tuple(heads)
        self.paths: dict[Order, Path] = {}
        self.random: list[Path] = []

    @property
    def share(self) -> float:
        """Of the heads there are: a search ends when the answer changes, mostly before they are all off."""
        done = {order: len(path.heads) / len(self.heads) for order, path in self.paths.items()}
        worst, least = self.paths.get("worst first"), done.get("least first", 0.0)
        return (0.3 if worst is not None and worst.changed else 0.3 * done.get("worst first", 0.0)) + 0.6 * least

    @property
    def n_ended(self) -> int:
        return sum(path.changed for path in self.paths.values())

    def steps(self) -> Generator[None, None, None]:
        for order, stage in _STAGES.items():
            self.stage = stage
            yield from self._search(order)
        self.stage = "The same in random orders"
        n = max(len(path.heads) for path in self.paths.values())
        rng = np.random.default_rng(_SEED)
        for _ in range(_RANDOM_ORDERS):
            drawn = [self.heads[place] for place in rng.permutation(len(self.heads))[:n]]
            effects = yield from self._ask([Change(heads=tuple(drawn[:k])) for k in range(1, n + 1)])
            readings = (effects.untouched, *effects.readings)
            self.random.append(Path(drawn, [measured(reading, "probability") for reading in readings]))

    @property
    def curves(self) -> list[Curve]:
        """What is known so far: P over the number of heads that are off, in every order; of random ones the mean."""
        names: dict[Order, str] = {"worst first": "hurts most first", "least first": "hurts least first"}
        curves = [self.paths[order].curve(name) for order, name in names.items() if order in self.paths]
        if len(self.random) == _RANDOM_ORDERS:
            name = f"in random order (mean of {_RANDOM_ORDERS})"
            curves.append(together(name, [path.curve(name) for path in self.random]))
        return curves

    def _ask(self, changes: Sequence[Change]) -> Generator[None, None, Effects]:
        pieces: list[Effects] = []
        yield from self._read(self._engine.stream(replace(self.question, changes=tuple(changes))), pieces.append)
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
