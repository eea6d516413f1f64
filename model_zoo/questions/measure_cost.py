"""How long passes of several models take, side by side."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from model_zoo.errors import ModelZooError
from model_zoo.question import Comparison, Lease, check_lengths, normalize
from model_zoo.types import COST_LENGTHS, CostEvent, CostFailure

COST_REPEATS = 15


@dataclass(frozen=True, slots=True)
class MeasureCost(Comparison[CostEvent]):
    """Time several models side by side on texts of ``lengths`` tokens, in at most ``repeats`` rounds: see
    ``model_zoo.timing.measure``.

    Close the iterator to stop. A model that cannot be had gets a CostFailure, and the others are measured.
    """

    models: Sequence[str]
    lengths: Sequence[int] = COST_LENGTHS
    repeats: int = COST_REPEATS

    def __post_init__(self) -> None:
        check_lengths(self.lengths, self.repeats)
        normalize(self, models=tuple(dict.fromkeys(self.models)), lengths=tuple(self.lengths))

    def parts(self, lease: Lease) -> Iterator[CostEvent]:
        from model_zoo import timing

        with ExitStack() as leases:
            loaded = {}
            for model in self.models:
                try:
                    loaded[model] = leases.enter_context(lease(model))
                except ModelZooError as error:
                    yield CostFailure(model, str(error))
            yield from timing.measure(loaded, self.lengths, self.repeats)

    @classmethod
    def example(cls, *models: str) -> Self:
        return cls(models, (8,), 1)
