"""Models timed side by side, then evaluated on the held-out sentences: a job.

It has the worker to itself while it times, and takes turns with others while it evaluates.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Final, Literal

from analysis.latency import ModelCost, latencies
from jobs.job import Job
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.types import CostFailure, CostSample, CostSubject, Quality
from training.measure_quality import MeasureQuality

_TIMING_SHARE = 0.5  # of the whole, roughly: what the progress bar counts for it

Stage = Literal["waiting", "timing", "evaluating"]
_STAGES: Final[dict[Stage, str]] = {
    "waiting": "Waiting for its turn",
    "timing": "Timing: all models in turn, at every length",
    "evaluating": "Timed. Now each model reads the held-out sentences",
}


class Measurement(Job):
    """First all models are timed together, then each reads the held-out sentences, unless only their time is asked for
    (``evaluated`` False); what is done stays when stopped.

    ``failures`` says of models why they could not be measured, or not wholly.
    """

    doing = "measuring"

    def __init__(self, engine: EngineInterface, models: Sequence[str], *, evaluated: bool = True) -> None:
        super().__init__()
        self.models = tuple(models)
        self.evaluated = evaluated
        self.failures: list[CostFailure] = []
        self.stage: Stage = "waiting"
        self._engine = engine
        self._subjects: dict[str, CostSubject] = {}
        self._samples: list[CostSample] = []
        self._qualities: dict[str, Quality] = {}
        self._timed = 0.0

    @property
    def exclusive(self) -> bool:
        """True while it times: another job's step between two passes would leave other data in the caches."""
        return self.stage == "timing"

    @property
    def share(self) -> float:
        qualities = list(self._qualities.values())
        done = sum(quality.n_done / quality.n_total if quality.n_total else 1.0 for quality in qualities)
        if not self.evaluated:
            return self._timed
        return _TIMING_SHARE * self._timed + (1 - _TIMING_SHARE) * done / len(self.models)

    @property
    def progress(self) -> str:
        return f"{_STAGES[self.stage]}: {self.share:.0%} done."

    @property
    def n_ended(self) -> int:
        """One for the curves, and one for each model whose quality is known."""
        complete = [quality for quality in self._qualities.values() if quality.n_done == quality.n_total]
        return (self.stage == "evaluating") + len(complete)

    @property
    def costs(self) -> list[ModelCost]:
        """What is known so far of each model that could be measured, in their order."""
        curves = latencies(list(self._samples))
        return [
            ModelCost(self._subjects[model], curves.get(model, ()), self._qualities.get(model))
            for model in self.models
            if model in self._subjects
        ]

    def steps(self) -> Generator[None, None, None]:
        self.stage = "timing"
        with closing(self._engine.measure_cost(self.models)) as events:
            for event in events:
                match event:
                    case CostSubject():
                        self._subjects[event.model] = event
                    case CostSample():
                        self._samples.append(event)
                        self._timed = event.share
                    case CostFailure():
                        self.failures.append(event)
                yield
        self._timed, self.stage = 1.0, "evaluating"
        yield
        for model in self.models if self.evaluated else ():
            if model in self._subjects:
                yield from self._evaluate(model)

    def _evaluate(self, model: str) -> Generator[None, None, None]:
        try:
            with closing(self._engine.stream(MeasureQuality(model))) as qualities:
                for quality in qualities:
                    self._qualities[model] = quality
                    yield
        except ModelZooError as error:
            self.failures.append(CostFailure(model, str(error)))
