"""A question that is answered piece by piece, for answers that take longer than one waits for a page: a job."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from jobs.job import Job
from model_zoo.engine_interface import EngineInterface
from model_zoo.questions.intervene import Intervene


class InterventionJob(Job):
    """Makes changed runs. The engine remembers a whole answer: a page that waits for it asks again when it is there."""

    doing = "running a model with changes"

    def __init__(self, engine: EngineInterface, question: Intervene) -> None:
        super().__init__()
        self.question = question
        self._engine = engine
        self._n_done = 0

    @property
    def share(self) -> float:
        return self._n_done / max(1, len(self.question.changes))

    @property
    def progress(self) -> str:
        return f"{self._n_done:,} of {len(self.question.changes):,} runs done."

    @property
    def n_ended(self) -> int:
        return 0  # the picture is drawn when it is whole

    def steps(self) -> Generator[None, None, None]:
        with closing(self._engine.stream(self.question)) as pieces:
            for piece in pieces:
                self._n_done += len(piece.readings)
                yield
