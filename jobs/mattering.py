"""Whether a head matters: it is switched off in many items, beside others of its layer, and every head is held against
what its gradient foretells: a job.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

import numpy as np

from analysis.corpus.importance import (
    Effect,
    GradientEstimate,
    Head,
    HeadComparison,
    compare_head,
    compared_sets,
    effects,
    gradient_estimates,
)
from evidence.material import Material
from jobs.switching import Answers, Switching
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray

MOST_EVERY: Final = 96
"""Items in which every head is switched off by itself."""

_AT_ONCE: Final = 48  # items in a question about one head
_AT_ONCE_EVERY: Final = 24  # and in one about every head


class Mattering(Switching):
    """First the head, in all items; then, unless only the head is asked for, every head and every layer in some of
    them, with their gradients. What is known so far can be read at any time.
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
        """``shape`` is how many layers the model has, and heads in each."""
        super().__init__(engine, model, material)
        self.head, self.shape = head, shape
        self.sets = compared_sets(head, shape[1])
        n_layers, n_heads = shape
        heads = [(layer, one) for layer in range(n_layers) for one in range(n_heads)]
        self._every_head = tuple((one,) for one in heads)
        self._layers = tuple(tuple((layer, one) for one in range(n_heads)) for layer in range(n_layers))
        self._answers, self._of_every = Answers(), Answers()
        self._gradients_of: list[FloatArray] = []
        n = len(material.tried)
        self._n_every = min(MOST_EVERY, n) if every else 0
        self._all = n * (1 + len(self.sets)) + self._n_every * (4 + len(heads) + n_layers)
        self._stage = 0

    @property
    def progress(self) -> str:
        what = "every head of the model" if self._stage else f"layer {self.head[0] + 1}, head {self.head[1] + 1}"
        return f"Switching off {what}: {self.share:.0%} done{self.time_left}"

    @property
    def n_ended(self) -> int:
        return bool(len(self._answers)) + self._stage

    def steps(self) -> Generator[None, None, None]:
        order: list[int] = []
        for chunk in self._chunks(self.material.tried, _AT_ONCE):
            order += chunk
            self._answers.add(chunk, (yield from self._switched_off(chunk, self.sets)))
        if not self.n_scored:
            raise InvalidInput(
                "None of these items can be scored with this model: their words are not in its vocabulary, share a "
                "token with others, or lie beyond its limit. Choose another model or other sentences."
            )
        self._stage = 1
        yield
        for start in range(0, self._n_every, _AT_ONCE_EVERY):
            chunk = order[start : min(start + _AT_ONCE_EVERY, self._n_every)]
            gradients = yield from self._gradients(chunk)
            found = yield from self._switched_off(chunk, (*self._every_head, *self._layers))
            self._gradients_of.append(gradients.gradients)
            self._of_every.add(chunk, found)
        self._stage = 2 if self._n_every else 1

    @property
    def answers(self) -> Answers:
        """Those with the head off, of all items so far."""
        return self._answers

    @property
    def n_scored(self) -> int:
        """Of how many items the scores are known."""
        return int((~np.isnan(self._answers.scores[0])).sum()) if len(self._answers) else 0

    @property
    def matters(self) -> HeadComparison | None:
        """What switching the head off does; None before anything is known."""
        if not self.n_scored:
            return None
        return compare_head(self._answers.scores, self._answers.right, self._clusters(self._answers), self.sets)

    @property
    def gradient_estimate(self) -> GradientEstimate | None:
        """Gradients beside what happens, of every head; None before anything is known."""
        n = 1 + len(self._every_head)
        if not len(self._of_every):
            return None
        scores = self._of_every.scores[:n]
        if np.isnan(scores).all():
            return None
        gradients = np.concatenate(self._gradients_of)[: scores.shape[1]]
        return gradient_estimates(gradients, scores, self._clusters(self._of_every))

    @property
    def layers(self) -> tuple[Effect, ...]:
        """What all heads of each layer do when they are off together; nothing before anything is known."""
        if not len(self._of_every):
            return ()
        rows = [0, *range(1 + len(self._every_head), 1 + len(self._every_head) + len(self._layers))]
        found = self._of_every
        return effects(found.scores[rows], found.right[rows], self._clusters(found), self._layers)

    def _clusters(self, answers: Answers) -> list[int]:
        return [self.material.clusters[place] for place in answers.places]
