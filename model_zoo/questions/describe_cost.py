"""What is known of a model's cost before anything is timed: its size, and how many tokens it makes of a word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question, check_lengths, normalize
from model_zoo.types import COST_LENGTHS, CostSubject


@dataclass(frozen=True, slots=True)
class DescribeCost(Question[CostSubject]):
    """What ``measure_cost`` knows about a model before it times anything, for texts of these ``lengths`` in tokens."""

    runs_model = False
    example_fields: ClassVar = {"lengths": (8,)}

    model: str
    lengths: Sequence[int] = COST_LENGTHS

    def check(self) -> None:
        check_lengths(self.lengths)
        normalize(self, lengths=tuple(self.lengths))

    def answer(self, loaded: LoadedModel) -> CostSubject:
        from model_zoo import timing

        return timing.subject(self.model, loaded, timing.passes_of(self.model, loaded, self.lengths))
