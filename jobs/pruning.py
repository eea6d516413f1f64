"""Pruning curves: what is left of a model's answers when more and more heads are off, in different orders: a job."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from analysis.corpus.importance import Curve, Head, Mean, mean_of, points, share_of, together
from evidence.material import Material
from jobs.switching import Answers, Switching
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import InvalidInput
from model_zoo.types import duration

Order = Literal["greedy", "by importance", "at random"]
ORDERS: Final[tuple[Order, ...]] = ("greedy", "by importance", "at random")

MOST_CHOOSING: Final = 60
"""Items by which heads are put in order."""
MOST_JUDGING: Final = 120
"""Items on which the curves are measured: none of those by which heads were put in order."""
RANDOM_ORDERS: Final = 5
GREEDY_SECONDS: Final = 120.0
"""How long the greedy search works at most; waiting for others does not count."""

_AT_ONCE: Final = 32
_SEED: Final = 35
_CURVES: Final = 0.4  # of the work, roughly; the rest is the search


@dataclass
class Path:
    """One order of heads, the first to go first, and what is known of it: for each of ``counts`` how the scores of the
    judging items change with so many of them off, and the share that is answered rightly.
    """

    heads: list[Head]
    counts: list[int] = field(default_factory=list)
    changes: list[Mean] = field(default_factory=list)
    right: list[Mean] = field(default_factory=list)

    def curve(self, name: str, *, right: bool) -> Curve:
        n = min(len(self.counts), len(self.changes), len(self.right))  # the worker may be at it
        return Curve(name, tuple(self.counts[:n]), tuple((self.right if right else self.changes)[:n]))


class Pruning(Switching):
    """Orders are made on one half of the material and judged on the other: by importance (the gradients of Michel et
    al. 2019, the least important first), at random, and greedily (next goes the head whose loss does the least harm).
    """

    doing = "pruning heads"

    def __init__(self, engine: EngineInterface, model: str, material: Material, shape: tuple[int, int]) -> None:
        """``shape`` is how many layers the model has, and heads in each."""
        super().__init__(engine, model, material)
        self.shape = shape
        self.heads: tuple[Head, ...] = tuple(np.ndindex(*shape))
        self.counts = tuple(points(len(self.heads)).tolist())
        self.choosing, self.judging = material.half(False, MOST_CHOOSING), material.half(True, MOST_JUDGING)
        if not self.choosing or not self.judging:
            raise InvalidInput(
                "There are too few items to put heads in order by some of them and to judge that by others. Give more."
            )
        self.paths: dict[Order, list[Path]] = {}
        self.greedy_ended: Literal["all", "time"] | None = None
        self._all = 3 * len(self.choosing) + (1 + RANDOM_ORDERS) * len(self.judging) * len(self.counts)
        self._searched = 0.0

    @property
    def share(self) -> float:
        found = self.paths.get("greedy")
        n = len(found[0].heads) if found else 0
        searched = max(n / len(self.heads), self._searched / GREEDY_SECONDS)
        return _CURVES * super().share + (1 - _CURVES) * min(1.0, searched)

    @property
    def progress(self) -> str:
        found = self.paths.get("greedy")
        if found is None:
            return f"By importance and at random: {super().share:.0%} done"
        left = duration(max(1.0, GREEDY_SECONDS - self._searched))
        return f"Greedy search: {len(found[0].heads)} of {len(self.heads)} heads off, at most {left} more"

    @property
    def n_ended(self) -> int:
        return sum(len(paths) for paths in list(self.paths.values())) + (self.greedy_ended is not None)

    @property
    def n_greedy(self) -> int:
        """How many heads the greedy search has switched off."""
        return len(self.paths["greedy"][0].heads) if "greedy" in self.paths else 0

    def curves(self, *, right: bool) -> tuple[Curve, ...]:
        """What is known so far, in the order of ``ORDERS``: shares of right items, or mean changes of the score."""
        found = []
        for order in ORDERS:
            paths = [path for path in self.paths.get(order, ()) if path.counts]
            each = [path.curve(order, right=right) for path in list(paths)]
            if each:
                found.append(together(order, each) if order == "at random" else each[0])
        return tuple(found)

    def steps(self) -> Generator[None, None, None]:
        gradients = yield from self._gradients(self.choosing)
        known = gradients.gradients[~np.isnan(gradients.gradients).any(axis=(1, 2))]
        if not len(known):
            raise InvalidInput("None of the items by which heads would be ordered can be scored. Give others.")
        importance = np.abs(known).mean(axis=0).reshape(-1)
        yield from self._judge("by importance", [self.heads[place] for place in np.argsort(importance, kind="stable")])
        rng = np.random.default_rng(_SEED)
        for _ in range(RANDOM_ORDERS):
            yield from self._judge("at random", [self.heads[place] for place in rng.permutation(len(self.heads))])
        yield from self._search()

    def _judge(self, order: Order, heads: list[Head]) -> Generator[None, None, None]:
        """Measure an order that is known as a whole."""
        path = Path(heads)
        yield from self._measure(path, self.counts)
        self.paths.setdefault(order, []).append(path)

    def _measure(self, path: Path, counts: Sequence[int]) -> Generator[None, None, None]:
        """With so many heads of a path off, in all judging items; 0 counts as nothing off."""
        answers = Answers()
        sets = [tuple(path.heads[:n]) for n in counts if n]
        for chunk in self._chunks(self.judging, _AT_ONCE):
            answers.add(chunk, (yield from self._switched_off(chunk, sets)))
        clusters = [self.material.clusters[place] for place in answers.places]
        rows = range(len(sets) + 1) if 0 in counts else range(1, len(sets) + 1)
        scores, right = answers.scores, answers.right
        path.changes += [mean_of(scores[row] - scores[0], clusters) for row in rows]
        path.right += [share_of(right[row], clusters) for row in rows]
        path.counts += counts

    def _search(self) -> Generator[None, None, None]:
        done = self._done
        path = Path([])
        self.paths["greedy"] = [path]
        yield from self._measure(path, (0,))
        while len(path.heads) < len(self.heads):
            left = [head for head in self.heads if head not in path.heads]
            began = self._seconds
            found = self._switched_off(self.choosing, [(*path.heads, head) for head in left])
            while True:
                try:
                    next(found)
                except StopIteration as end:
                    scores = end.value.scores[1:]
                    break
                self._searched += self._seconds - began
                began = self._seconds
                if self._searched > GREEDY_SECONDS:
                    found.close()
                    self.greedy_ended = "time"
                    if path.counts[-1] != len(path.heads):
                        yield from self._measure(path, (len(path.heads),))
                    return
                yield
            self._done = done  # how long it takes is told by its own bound
            path.heads.append(left[int(np.nanmean(scores, axis=1).argmax())])
            if len(path.heads) in self.counts:
                yield from self._measure(path, (len(path.heads),))
        self.greedy_ended = "all"
