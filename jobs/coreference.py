"""Pronouns compared with the nouns that they may mean, in every head of a model, and of random weights of the same
shape: a job.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from analysis.corpus.coreference import By, JudgedHeads, Pairs, PronounAttention, judge
from evidence.corpus import stream_in_parts
from evidence.questions.refer import Refer
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.registry import UNTRAINED


class CoreferenceJob(StagedJob):
    """What was found so far is there while it works, and stays when it is stopped."""

    doing = "comparing pronouns with nouns"
    unit = "sentence"

    def __init__(self, engine: EngineInterface, model: str, pairs: Pairs, *, random: bool = True) -> None:
        self._models = [model, *[f"{UNTRAINED}{model}"] * (random and not model.startswith(UNTRAINED))]
        super().__init__(engine, len(pairs.corpus) * len(self._models), "Comparing every head")
        self.model, self.pairs = model, pairs
        self.random_failure = ""
        self._parts: dict[str, list[PronounAttention]] = {}
        self._judgements: dict[tuple[bool, By, int], JudgedHeads | None] = {}

    @property
    def n_ended(self) -> int:
        return len(self._parts)

    @property
    def trained(self) -> PronounAttention | None:
        """What was found of the model so far."""
        return self._joined(0)

    @property
    def random(self) -> PronounAttention | None:
        """What was found of random weights of the same shape, once that is all; None where that is not asked for or
        cannot be had.
        """
        random, trained = self._joined(1), self.trained
        return None if random is None or trained is None or len(random.numbers) < len(trained.numbers) else random

    def judged(self, by: By, *, random: bool = False) -> JudgedHeads | None:
        """The model's heads, or the ``random`` ones, judged on what was found so far; None on too little. Judged once:
        the page asks at every click.
        """
        attention = self.random if random else self.trained
        if attention is None:
            return None
        key = random, by, len(attention.numbers)
        if key not in self._judgements:
            self._judgements[key] = judge(self.pairs, attention, by)
        return self._judgements[key]

    def _joined(self, place: int) -> PronounAttention | None:
        parts = self._parts.get(self._models[place]) if place < len(self._models) else None
        return PronounAttention.joined(parts) if parts else None

    def steps(self) -> Generator[None, None, None]:
        for model in self._models:

            def note(part: PronounAttention, model: str = model) -> None:
                self._parts.setdefault(model, []).append(part)
                self.n_done += len(part.numbers) + len(part.left_out)

            try:
                ask = partial(Refer, model)
                yield from self._read(stream_in_parts(self._engine, self.pairs.corpus, ask), note)
            except ModelZooError as error:
                if model == self.model:
                    raise
                self.random_failure = str(error)
            self.stage = "The same shape, random weights"
