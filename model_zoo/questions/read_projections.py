"""The output projections of a model's attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_zoo.question import Question, check_part
from model_zoo.types import FloatArray, Part, read_only

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class ReadProjections(Question[tuple[FloatArray | None, ...]]):
    """Of one ``part``; see ``EngineInterface.output_projections``."""

    of_loaded = True

    model: str
    part: Part = "encoder"

    def __post_init__(self) -> None:
        check_part(self.part)

    def answer(self, loaded: LoadedModel) -> tuple[FloatArray | None, ...]:
        from model_zoo import running

        running.refuse_without_part(loaded, self.part)
        return tuple(None if found is None else read_only(found) for found in loaded.output_projections(self.part))

    @classmethod
    def example(cls, model: str) -> ReadProjections:
        return cls(model)
