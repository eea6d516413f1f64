"""A model's heads measured on a corpus, beside random weights of the same shape: a job."""

from __future__ import annotations

from collections.abc import Generator

from analysis.corpus.head_statistics import HeadStatistics
from analysis.corpus.relations import findings
from analysis.corpus.results import Results
from analysis.corpus.sentences import Corpus
from evidence.surveying import Progress, survey_steps
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface


class MeasureHeadsJob(StagedJob):
    """The stages of ``survey_steps``. What is done stays when stopped; the ``corpus`` may have been read in part then
    (``statistics.n_texts``).
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
        def note(at: Progress) -> None:
            self.stage, self.n_done, self.results, self._statistics = at.stage, at.n_done, at.results, at.statistics

        try:
            yield from self._read(survey_steps(self._engine, self.model, self.corpus), note)
        finally:
            if self.results is None and self._statistics is not None:
                self.results = Results(statistics=self._statistics, findings=findings(self._statistics.cases))
