"""Parts switched off. In many items: a head beside others of its layer, every head by itself and every layer
(``HeadAblationJob``), and more and more heads in different orders (``PruningJob``). In one text: all changed runs that
a question asks for (``InterventionJob``), and heads one after the other (``GreedyJob``).

A greedy search always takes the head whose loss moves the score most, or least, beside those that are off already; it
may miss a smaller set.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from analysis.corpus.importance import (
    Curve,
    Effect,
    GradientEstimate,
    Head,
    HeadComparison,
    Mean,
    compare_head,
    compared_sets,
    effects,
    gradient_estimates,
    mean_of,
    points,
    share_of,
    together,
)
from analysis.effects import measured, same_answer
from evidence.items import LeftOut, Material
from evidence.questions.switch_off import Gradients, HeadGradients, SwitchedOff, SwitchOff
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import InvalidInput
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, DoubleArray, Effects, FloatArray, Reading, duration
from model_zoo.types.shows import DataFrame, Shows, table, whole_numbers

Order = Literal["greedy", "by importance", "at random"]
ORDERS: Final[tuple[Order, ...]] = ("greedy", "by importance", "at random")
TextOrder = Literal["worst first", "least first"]

MOST_EVERY: Final = 96
"""Items in which every head is switched off by itself."""
MOST_CHOOSING: Final = 60
"""Items by which heads are put in order."""
MOST_JUDGING: Final = 120
"""Items on which the curves are measured: none of those by which heads were put in order."""
RANDOM_ORDERS: Final = 5
GREEDY_SECONDS: Final = 120.0
"""How long the greedy search works at most; waiting for others does not count."""

_STAGES: Final[dict[TextOrder, str]] = {
    "worst first": "The fewest heads that change the prediction",
    "least first": "How many can be removed before it changes",
}
_SEED: Final = 35
_SEED_OF_TEXT: Final = 18
_OF_GRADIENTS: Final = 3  # passes that taking gradients is worth
_AT_ONCE: Final = 48  # items in a question about one head
_AT_ONCE_EVERY: Final = 24  # and in one about every head
_AT_ONCE_PRUNED: Final = 32
_CURVES: Final = 0.4  # of the work of pruning, roughly; the rest is the search


@dataclass
class Answers:
    """What is known so far of some items: ``places`` among those of the material, and for each set of heads, first
    none, their scores and whether they are right, one column per item. ``left_out`` are places and reasons.
    """

    places: list[int] = field(default_factory=list)
    left_out: list[tuple[int, LeftOut]] = field(default_factory=list)
    _scores: list[FloatArray] = field(default_factory=list)
    _right: list[FloatArray] = field(default_factory=list)

    def add(self, places: Sequence[int], answer: SwitchedOff) -> None:
        """Note the answers of the items at these places."""
        self._scores.append(answer.scores)
        self._right.append(answer.right)
        self.left_out += [(places[place], why) for place, why in answer.left_out]
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


class AblationJob(StagedJob):
    """Asks one model about a material. Work is counted in items and sets of heads; ``shape`` is how many layers the
    model has, and heads in each.
    """

    def __init__(self, engine: EngineInterface, model: str, material: Material, shape: tuple[int, int]) -> None:
        super().__init__(engine)
        self.model, self.material, self.shape = model, material, shape
        self.heads: tuple[Head, ...] = tuple(np.ndindex(*shape))

    def _chunks(self, places: Sequence[int], size: int) -> Iterator[list[int]]:
        """The places in a random order, so many at a time: what is known when the job is stopped is a fair sample."""
        order = np.random.default_rng(_SEED).permutation(len(places))
        shuffled = [places[place] for place in order]
        for start in range(0, len(shuffled), size):
            yield shuffled[start : start + size]

    def _switch_off(
        self, places: Sequence[int], sets: Sequence[tuple[Head, ...]]
    ) -> Generator[None, None, SwitchedOff]:
        question = SwitchOff(self.model, self.material.some(places), tuple(sets))
        answer: SwitchedOff = yield from self._ask(question, len(places) * (1 + len(sets)))
        return answer

    def _gradients(self, places: Sequence[int]) -> Generator[None, None, FloatArray]:
        """The gradients of every head's gate, (items, layers, heads)."""
        question = HeadGradients(self.model, self.material.some(places))
        answer: Gradients = yield from self._ask(question, len(places) * _OF_GRADIENTS)
        return answer.gradients

    def _ask(self, question: SwitchOff | HeadGradients, worth: int) -> Generator[None, None, Any]:
        """The answer, one part per step; it is ``worth`` so many items and sets."""
        parts: list[Any] = []
        end = self.n_done + worth

        def note(part: Any) -> None:
            parts.append(part)
            self.n_done = min(end, self.n_done + len(set(part.items)))

        yield from self._read(self._engine.stream(question), note)
        self.n_done = end
        return question.combine(parts)

    def _clusters(self, answers: Answers) -> list[int]:
        return [self.material.clusters[place] for place in answers.places]


class HeadAblationJob(AblationJob):
    """First one head, in all items, beside others of its layer; then, unless only the head is asked for, every head and
    every layer in some of them, with their gradients. What is known so far can be read at any time.
    """

    doing = "switching heads off"

    def __init__(
        self,
        engine: EngineInterface,
        model: str,
        material: Material,
        head: Head,
        shape: tuple[int, int],
        *,
        every: bool = True,
    ) -> None:
        super().__init__(engine, model, material, shape)
        n_layers, n_heads = shape
        self.head, self.sets = head, compared_sets(head, n_heads)
        self.stage = f"Switching off layer {head[0] + 1}, head {head[1] + 1}"
        self.answers = Answers()
        """Those with the head off, of all items so far."""
        self._every_head = tuple((one_head,) for one_head in self.heads)
        self._layers = tuple(tuple((layer, number) for number in range(n_heads)) for layer in range(n_layers))
        self._answers_every = Answers()
        self._gradients_every: list[FloatArray] = []
        n = len(material.tried)
        self._n_every = min(MOST_EVERY, n) if every else 0
        self.n_total = n * (1 + len(self.sets)) + self._n_every * (1 + _OF_GRADIENTS + len(self.heads) + n_layers)
        self._n_stages = 0

    @property
    def n_ended(self) -> int:
        return bool(len(self.answers)) + self._n_stages

    def steps(self) -> Generator[None, None, None]:
        for chunk in self._chunks(self.material.tried, _AT_ONCE):
            self.answers.add(chunk, (yield from self._switch_off(chunk, self.sets)))
        if not self.n_scored:
            raise InvalidInput(
                "None of these items can be scored with this model: their words are not in its vocabulary, share a "
                "token with others, or lie beyond its limit. Choose another model or other sentences."
            )
        self._n_stages, self.stage = 1, "Switching off every head of the model"
        yield
        order = self.answers.places
        for start in range(0, self._n_every, _AT_ONCE_EVERY):
            chunk = order[start : min(start + _AT_ONCE_EVERY, self._n_every)]
            gradients = yield from self._gradients(chunk)
            answer = yield from self._switch_off(chunk, (*self._every_head, *self._layers))
            self._gradients_every.append(gradients)
            self._answers_every.add(chunk, answer)
        self._n_stages = 2 if self._n_every else 1

    @property
    def n_scored(self) -> int:
        """Of how many items the scores are known."""
        return int((~np.isnan(self.answers.scores[0])).sum()) if len(self.answers) else 0

    @property
    def matters(self) -> HeadComparison | None:
        """What switching the head off does; None before anything is known."""
        if not self.n_scored:
            return None
        return compare_head(self.answers.scores, self.answers.right, self._clusters(self.answers), self.sets)

    @property
    def gradient_estimate(self) -> GradientEstimate | None:
        """Gradients beside what happens, of every head; None before anything is known."""
        answers = self._answers_every
        if not len(answers) or np.isnan(scores := answers.scores[: 1 + len(self.heads)]).all():
            return None
        gradients = np.concatenate(self._gradients_every)[: scores.shape[1]]
        return gradient_estimates(gradients, scores, self._clusters(answers))

    @property
    def layers(self) -> tuple[Effect, ...]:
        """What all heads of each layer do when they are off together; nothing before anything is known."""
        answers, first = self._answers_every, 1 + len(self.heads)
        if not len(answers):
            return ()
        rows = [0, *range(first, first + len(self._layers))]
        return effects(answers.scores[rows], answers.right[rows], self._clusters(answers), self._layers)


@dataclass(slots=True)
class Path(Shows):
    """Heads in the order in which they go, and what is known of it: for each of ``counts`` the score with so many of
    them off; a job that is stopped may have chosen one more head. Of many items that is how their score changes (nats),
    and ``right`` the share that is answered rightly; of one text P of its answer, ``changed`` once that is another one.
    """

    heads: list[Head]
    counts: list[int] = field(default_factory=list)
    scores: list[Mean] = field(default_factory=list)
    right: list[Mean] = field(default_factory=list)
    changed: bool = False

    def curve(self, name: str, *, right: bool = False) -> Curve:
        scores = self.right if right else self.scores
        n = min(len(self.counts), len(scores))  # the worker may be at it
        return Curve(name, tuple(self.counts[:n]), tuple(scores[:n]))

    def to_frame(self) -> DataFrame:
        """One row a number of heads: heads_off, layer and head of the one that went last (missing at first), score."""
        last = [self.heads[n - 1] if n else None for n in self.counts]
        return table(
            {
                "heads_off": self.counts,
                "layer": whole_numbers([None if head is None else head[0] for head in last]),
                "head": whole_numbers([None if head is None else head[1] for head in last]),
                "score": [mean.value for mean in self.scores],
            }
        )


def _prune_greedily(
    path: Path,
    heads: Sequence[Head],
    score: Callable[[Sequence[tuple[Head, ...]]], Generator[None, None, DoubleArray]],
    measure: Callable[[Path, int], Generator[None, None, None]],
) -> Generator[None, None, None]:
    """Switch heads off one after the other, until none is left or the answer has changed: next goes the one with which
    the ``score`` of the set that is off is highest. The path is measured with each number of them off.
    """
    yield from measure(path, 0)
    while len(path.heads) < len(heads) and not path.changed:
        left = [head for head in heads if head not in path.heads]
        scores = yield from score([(*path.heads, head) for head in left])
        path.heads.append(left[int(np.argmax(scores))])
        yield from measure(path, len(path.heads))


class _TimeIsUp(Exception):
    """Raised where a search has taken as long as it may."""


class PruningJob(AblationJob):
    """Orders are made on one half of the material and judged on the other: by importance (the gradients of Michel et
    al. 2019, the least important first), at random, and greedily (next goes the head whose loss does the least harm).
    """

    doing = "pruning heads"

    def __init__(self, engine: EngineInterface, model: str, material: Material, shape: tuple[int, int]) -> None:
        super().__init__(engine, model, material, shape)
        self.stage = "By importance and at random"
        self.counts = tuple(points(len(self.heads)).tolist())
        self.choosing, self.judging = material.half(False, MOST_CHOOSING), material.half(True, MOST_JUDGING)
        if not self.choosing or not self.judging:
            raise InvalidInput(
                "There are too few items to put heads in order by some of them and to judge that by others. Give more."
            )
        self.paths: dict[Order, list[Path]] = {}
        self.greedy_ended: Literal["all", "time"] | None = None
        self.n_total = 3 * len(self.choosing) + (1 + RANDOM_ORDERS) * len(self.judging) * len(self.counts)
        self._searched = 0.0  # seconds

    @property
    def share(self) -> float:
        searched = max(self.n_greedy / len(self.heads), self._searched / GREEDY_SECONDS)
        return _CURVES * super().share + (1 - _CURVES) * min(1.0, searched)

    @property
    def progress(self) -> str:
        if "greedy" not in self.paths:
            return super().progress
        left = duration(max(1.0, GREEDY_SECONDS - self._searched))
        return f"{self.stage}: {self.n_greedy} of {len(self.heads)} heads off, at most {left} more"

    @property
    def n_ended(self) -> int:
        return sum(len(paths) for paths in list(self.paths.values())) + (self.greedy_ended is not None)

    @property
    def n_greedy(self) -> int:
        """How many heads the greedy search has switched off."""
        return len(self.paths["greedy"][0].heads) if "greedy" in self.paths else 0

    def curves(self, *, right: bool) -> tuple[Curve, ...]:
        """What is known so far, in the order of ``ORDERS``: shares of right items, or mean changes of the score."""
        curves = []
        for order in ORDERS:
            of_order = [path.curve(order, right=right) for path in list(self.paths.get(order, ())) if path.counts]
            if of_order:
                curves.append(together(order, of_order) if order == "at random" else of_order[0])
        return tuple(curves)

    def steps(self) -> Generator[None, None, None]:
        gradients = yield from self._gradients(self.choosing)
        known = gradients[~np.isnan(gradients).any(axis=(1, 2))]
        if not len(known):
            raise InvalidInput("None of the items by which heads would be ordered can be scored. Give others.")
        importance = np.abs(known).mean(axis=0).reshape(-1)
        yield from self._judge("by importance", np.argsort(importance, kind="stable"))
        rng = np.random.default_rng(_SEED)
        for _ in range(RANDOM_ORDERS):
            yield from self._judge("at random", rng.permutation(len(self.heads)))
        self.stage = "Greedy search"
        path = Path([])
        self.paths["greedy"] = [path]
        try:
            yield from _prune_greedily(path, self.heads, self._score, self._measure_at_count)
            self.greedy_ended = "all"
        except _TimeIsUp:
            self.greedy_ended = "time"
            if path.counts[-1] != len(path.heads):
                yield from self._measure(path, (len(path.heads),))

    def _judge(self, order: Order, places: npt.NDArray[np.int64]) -> Generator[None, None, None]:
        """Measure an order that is known as a whole: the places of the heads among all."""
        path = Path([self.heads[place] for place in places])
        yield from self._measure(path, self.counts)
        self.paths.setdefault(order, []).append(path)

    def _measure_at_count(self, path: Path, n: int) -> Generator[None, None, None]:
        if n in self.counts:
            yield from self._measure(path, (n,))

    def _measure(self, path: Path, counts: Sequence[int]) -> Generator[None, None, None]:
        """With so many heads of a path off, in all judging items; 0 counts as nothing off."""
        answers = Answers()
        sets = [tuple(path.heads[:n]) for n in counts if n]
        for chunk in self._chunks(self.judging, _AT_ONCE_PRUNED):
            answers.add(chunk, (yield from self._switch_off(chunk, sets)))
        clusters = self._clusters(answers)
        rows = range(len(sets) + 1) if 0 in counts else range(1, len(sets) + 1)
        scores, right = answers.scores, answers.right
        path.scores += [mean_of(scores[row] - scores[0], clusters) for row in rows]
        path.right += [share_of(right[row], clusters) for row in rows]
        path.counts += counts

    def _score(self, sets: Sequence[tuple[Head, ...]]) -> Generator[None, None, DoubleArray]:
        """The mean scores of the choosing items with each set off. Raises _TimeIsUp between two steps."""
        done, began = self.n_done, self._seconds
        answer = self._switch_off(self.choosing, sets)
        while True:
            try:
                next(answer)
            except StopIteration as end:
                self.n_done = done  # how long it takes is told by its own bound
                return np.asarray(np.nanmean(end.value.scores[1:], axis=1), dtype=np.float64)
            self._searched += self._seconds - began
            began = self._seconds
            if self._searched > GREEDY_SECONDS:
                answer.close()
                raise _TimeIsUp
            yield


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


class GreedyJob(StagedJob):
    """A search on one question, which says what is asked and has no changes of its own. ``random`` are orders drawn at
    random, as long as the longest search.
    """

    doing = "looking for heads that matter"

    def __init__(self, engine: EngineInterface, question: Intervene, heads: Sequence[Head]) -> None:
        super().__init__(engine, stage=_STAGES["worst first"])
        self.question = replace(question, changes=(), top_k=1)
        self.heads = tuple(heads)
        self.paths: dict[TextOrder, Path] = {}
        self.random: list[Path] = []
        self._effects: Effects
        self._readings: dict[tuple[Head, ...], Reading] = {}

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
            self.stage, path = stage, Path([])
            self.paths[order] = path
            score = partial(self._score, -1 if order == "worst first" else 1)
            yield from _prune_greedily(path, self.heads, score, lambda path, n: self._measure(path, [n]))
        self.stage = "The same in random orders"
        n = max(len(path.heads) for path in self.paths.values())
        rng = np.random.default_rng(_SEED_OF_TEXT)
        for _ in range(RANDOM_ORDERS):
            path = Path([self.heads[place] for place in rng.permutation(len(self.heads))[:n]])
            yield from self._measure(path, range(n + 1))
            self.random.append(path)

    @property
    def curves(self) -> list[Curve]:
        """What is known so far: P over the number of heads that are off, in every order; of random ones the mean."""
        names: dict[TextOrder, str] = {"worst first": "hurts most first", "least first": "hurts least first"}
        curves = [self.paths[order].curve(name) for order, name in names.items() if order in self.paths]
        if len(self.random) == RANDOM_ORDERS:
            name = f"in random order (mean of {RANDOM_ORDERS})"
            curves.append(together(name, [path.curve(name) for path in self.random]))
        return curves

    def _run(self, sets: Sequence[tuple[Head, ...]]) -> Generator[None, None, Effects]:
        """Changed runs, with each set off; the readings of the last ones are kept, so that none is run twice."""
        question = replace(self.question, changes=tuple(Change(heads=heads) for heads in sets))
        pieces: list[Effects] = []
        yield from self._read(self._engine.stream(question), pieces.append)
        self._effects = self.question.combine(pieces)
        self._readings = {(): self._effects.untouched} | dict(zip(sets, self._effects.readings, strict=True))
        return self._effects

    def _score(self, sign: int, sets: Sequence[tuple[Head, ...]]) -> Generator[None, None, DoubleArray]:
        """ln P of the answer with each set off, or minus that."""
        effects = yield from self._run(sets)
        return sign * np.array([reading.log_probability for reading in effects.readings])

    def _measure(self, path: Path, counts: Sequence[int]) -> Generator[None, None, None]:
        """P of the answer with so many heads of a path off; 0 counts as nothing off."""
        sets = [tuple(path.heads[:n]) for n in counts]
        if not all(heads in self._readings for heads in sets):
            yield from self._run([heads for heads in sets if heads])
        readings = [self._readings[heads] for heads in sets]
        path.scores += [Mean(measured(reading, "probability"), np.nan, np.nan, 1, 1) for reading in readings]
        path.counts += counts
        path.changed = not same_answer(self._effects, readings[-1])
