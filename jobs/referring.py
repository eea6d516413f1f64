"""Pronouns compared with the nouns that they may mean, in every head of a model, and of the same network with random
weights. A job.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from analysis.corpus.coreference import By, JudgedHeads, Pairs, PronounAttention, judge
from evidence import asking
from evidence.questions.refer import Refer
from jobs.job import Job
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.registry import UNTRAINED


class Referring(Job):
    """What was found so far is there while it works, and stays when it is stopped."""

    doing = "comparing pronouns with nouns"

    def __init__(self, engine: EngineInterface, model: str, pairs: Pairs, *, random: bool = True) -> None:
        super().__init__()
        self.model, self.pairs = model, pairs
        self.random_failure = ""
        self._engine = engine
        self._models = [model]
        if random and not model.startswith(UNTRAINED):
            self._models.append(f"{UNTRAINED}{model}")
        self._found: dict[str, list[PronounAttention]] = {}
        self._known: dict[tuple[int, By, int], JudgedHeads | None] = {}
        self._done = 0

    @property
    def share(self) -> float:
        return self._done / (len(self.pairs.corpus) * len(self._models))

    @property
    def progress(self) -> str:
        if len(self._models) > 1 and self._models[1] in self._found:
            return "The same with random weights."
        return f"{self._done} of {len(self.pairs.corpus)} sentences."

    @property
    def n_ended(self) -> int:
        return len(self._found)

    @property
    def trained(self) -> PronounAttention | None:
        """What was found of the model so far."""
        return self._joined(0)

    @property
    def random(self) -> PronounAttention | None:
        """What was found of the network with random weights, once that is all; None where it is not asked for or cannot
        be had.
        """
        found, trained = self._joined(1), self.trained
        return None if found is None or trained is None or len(found.numbers) < len(trained.numbers) else found

    def judged(self, by: By) -> JudgedHeads | None:
        """The model's heads judged on what was found so far; None on too little."""
        return self._judged(0, self.trained, by)

    def judged_at_random(self, by: By) -> JudgedHeads | None:
        """The same with random weights; None where ``random`` is."""
        return self._judged(1, self.random, by)

    def _joined(self, place: int) -> PronounAttention | None:
        parts = self._found.get(self._models[place]) if place < len(self._models) else None
        return PronounAttention.joined(parts) if parts else None

    def _judged(self, place: int, found: PronounAttention | None, by: By) -> JudgedHeads | None:
        """JudgedHeads once: the page asks at every click."""
        if found is None:
            return None
        key = place, by, len(found.numbers)
        if key not in self._known:
            self._known[key] = judge(self.pairs, found, by)
        return self._known[key]

    def steps(self) -> Generator[None, None, None]:
        yield from self._ask(self._models[0])
        for model in self._models[1:]:
            try:
                yield from self._ask(model)
            except ModelZooError as error:
                self.random_failure = str(error)

    def _ask(self, model: str) -> Generator[None, None, None]:
        with closing(asking.pieces(self._engine, self.pairs.corpus, lambda some: Refer(model, some))) as found:
            for part in found:
                self._found.setdefault(model, []).append(part)
                self._done += len(part.numbers) + len(part.left_out)
                yield
