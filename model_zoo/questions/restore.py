"""What a model puts back where it is given other tokens than the text's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class Restore(Question[tuple[MaskPrediction, ...]]):
    """The answers at ``positions`` of a text that is given as ``ids``; see ``EngineInterface.restore``."""

    head = "mlm"

    model: str
    text: str
    ids: Sequence[int]
    positions: Sequence[int]
    top_k: int = 10

    def __post_init__(self) -> None:
        texts.check(self.text)
        check_top_k(self.top_k)
        normalize(self, ids=tuple(self.ids), positions=tuple(self.positions))

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...]:
        from model_zoo import masked

        return masked.restore(loaded, self.text, self.ids, self.positions, self.top_k)

    @classmethod
    def example(cls, model: str) -> Restore:
        return cls(model, ".", (0, 1, 2), (1,), 3)
