"""A model's heads measured on a corpus, beside random weights of the same shape: a job."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import cast

from analysis.corpus.head_statistics import HeadSets, HeadStatistics
from analysis.corpus.relations import Cases, best_ensemble, ensembles, findings
from analysis.corpus.results import Results
from analysis.corpus.sentences import Corpus
from evidence.corpus import measure_heads, score_head_sets
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.registry import UNTRAINED


class MeasureHeadsJob(StagedJob):
    """Heads first; where there are trees, then random weights of the same shape, and sets of heads that look
    together. What is done stays when stopped; the ``corpus`` may have been read in part then (``statistics.n_texts``).
    """

    doing = "measuring heads on a corpus"

    def __init__(self, engine: EngineInterface, model: str, corpus: Corpus) -> None:
        super().__init__(engine, len(corpus) * (3 if corpus.has_trees else 1), "Measuring every head")
        self.model, self.corpus = model, corpus
        self.results: Results | None = None
        self._statistics: HeadStatistics | None = None

    @property
    def n_ended(self) -> int:
        """One for each stage that is done."""
        if self.results is None:
            return 0
        return 1 + (self.results.at_random is not None) + bool(self.results.ensembles)

    def steps(self) -> Generator[None, None, None]:
        try:
            yield from self._measure(self.model)
        finally:
            if self._statistics is not None:
                self.results = Results(statistics=self._statistics, findings=findings(self._statistics.cases))
        yield
        if self.corpus.has_trees:
            assert self.results is not None
            yield from self._measure_random_weights(self.results)
            yield from self._score_head_sets(self.results)

    def _measure(self, model: str) -> Generator[None, None, None]:
        before = self.n_done

        def note(statistics: HeadStatistics) -> None:
            self._statistics, self.n_done = statistics, before + statistics.n_texts

        yield from self._read(measure_heads(self._engine, model, self.corpus), note)

    def _measure_random_weights(self, results: Results) -> Generator[None, None, None]:
        self.stage, self._statistics = "The same shape, random weights", None
        try:
            yield from self._measure(f"{UNTRAINED}{self.model}")
        except ModelZooError as error:
            self.results = replace(results, missing=str(error))
            return
        statistics = cast("HeadStatistics", self._statistics)
        self.results = replace(results, at_random=findings(statistics.cases))
        yield

    def _score_head_sets(self, results: Results) -> Generator[None, None, None]:
        self.stage, before = "Heads that look together", 2 * len(self.corpus)
        self.n_done = before
        groups = {judged.relation: ensembles(judged) for judged in results.findings.relations}
        n_cases = sum(judged.n_choosing + judged.n_judged for judged in results.findings.relations)
        heads = results.statistics.every_head()
        tried = [
            HeadSets(*relation, tuple(tuple(heads[place] for place in group) for group in of_relation))
            for relation, of_relation in groups.items()
        ]
        scored: tuple[Cases, ...] = ()

        def note(cases: tuple[Cases, ...]) -> None:
            nonlocal scored
            scored, self.n_done = cases, before + round(len(self.corpus) * sum(map(len, cases)) / n_cases)

        if groups:
            yield from self._read(score_head_sets(self._engine, self.model, self.corpus, tried), note)
        best = [
            best_ensemble(relation, of_relation, cases)
            for (relation, of_relation), cases in zip(groups.items(), scored, strict=True)
        ]
        assert self.results is not None
        self.n_done = self.n_total
        self.results = replace(self.results, ensembles=tuple(ensemble for ensemble in best if ensemble is not None))
        yield
