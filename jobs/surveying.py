"""A model's heads measured on a corpus, beside the same network with random weights: a job."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Final, Literal

from analysis.corpus.head_statistics import HeadSets
from analysis.corpus.relations import best_ensemble, ensembles, findings
from analysis.corpus.results import Results
from analysis.corpus.sentences import Corpus
from evidence import asking
from jobs.job import Job, time_left
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.registry import UNTRAINED

Stage = Literal["heads", "random weights", "together"]
_DOING: Final[dict[Stage, str]] = {
    "heads": "Measuring every head",
    "random weights": "The same network with random weights",
    "together": "Heads that look together",
}


class Surveying(Job):
    """Heads first; where there are trees, then the same network with random weights, and sets of heads that look
    together. What is done stays when stopped; the ``corpus`` may have been read in part then (``survey.n_texts``).
    """

    doing = "measuring heads on a corpus"

    def __init__(self, engine: EngineInterface, model: str, corpus: Corpus) -> None:
        super().__init__()
        self.model, self.corpus = model, corpus
        self.results: Results | None = None
        self._engine = engine
        self._stage: Stage = "heads"
        self._of_stage = 0.0
        self._began: float | None = None

    @property
    def stages(self) -> tuple[Stage, ...]:
        return ("heads", "random weights", "together") if self.corpus.has_trees else ("heads",)

    @property
    def share(self) -> float:
        return (self.stages.index(self._stage) + self._of_stage) / len(self.stages)

    @property
    def progress(self) -> str:
        said = f"{_DOING[self._stage]}: {self._of_stage:.0%} of {len(self.corpus):,} sentences"
        passed = 0.0 if self._began is None else time.monotonic() - self._began
        n_stages = len(self.stages) - self.stages.index(self._stage)  # of about the same length
        return f"{said}{time_left(passed, self._of_stage / n_stages)}."

    @property
    def n_ended(self) -> int:
        """One for each stage that is done."""
        if self.results is None:
            return 0
        return 1 + (self.results.at_random is not None) + bool(self.results.ensembles)

    def steps(self) -> Generator[None, None, None]:
        statistics = None
        self._next("heads")
        try:
            with closing(asking.survey(self._engine, self.model, self.corpus)) as found:
                for statistics in found:
                    self._of_stage = statistics.n_texts / len(self.corpus)
                    yield
        finally:
            if statistics is not None:
                self.results = Results(statistics=statistics, findings=findings(statistics.cases))
        yield
        if self.corpus.has_trees:
            assert self.results is not None
            yield from self._with_random_weights(self.results)
            yield from self._together(self.results)

    def _next(self, stage: Stage) -> None:
        self._stage, self._of_stage, self._began = stage, 0.0, time.monotonic()

    def _with_random_weights(self, results: Results) -> Generator[None, None, None]:
        self._next("random weights")
        statistics = None
        try:
            with closing(asking.survey(self._engine, f"{UNTRAINED}{self.model}", self.corpus)) as found:
                for statistics in found:
                    self._of_stage = statistics.n_texts / len(self.corpus)
                    yield
        except ModelZooError as error:
            self.results = replace(results, missing=str(error))
            return
        assert statistics is not None
        self.results = replace(results, at_random=findings(statistics.cases))
        yield

    def _together(self, results: Results) -> Generator[None, None, None]:
        self._next("together")
        groups = {found.relation: ensembles(found) for found in results.findings.relations}
        if not groups:
            return
        heads = results.statistics.every_head()
        tried = [
            HeadSets(*relation, tuple(tuple(heads[place] for place in group) for group in of_relation))
            for relation, of_relation in groups.items()
        ]
        n_cases = sum(found.n_choosing + found.n_judged for found in results.findings.relations)
        cases = None
        with closing(asking.try_together(self._engine, self.model, self.corpus, tried)) as found:
            for cases in found:
                self._of_stage = sum(map(len, cases)) / n_cases
                yield
        assert cases is not None
        best = [
            best_ensemble(relation, of_relation, one)
            for (relation, of_relation), one in zip(groups.items(), cases, strict=True)
        ]
        assert self.results is not None
        self.results = replace(self.results, ensembles=tuple(one for one in best if one is not None))
        yield
