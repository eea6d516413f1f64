"""What a model predicts where some tokens of its input were replaced, as in training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class Restore(Question[tuple[MaskPrediction, ...]]):
    """The predictions at some positions of a text, when the model is given other ``ids`` there, as in its training."""

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"text": ".", "ids": (0, 1, 2), "positions": (1,), "top_k": 3}

    model: str
    text: str
    ids: Sequence[int]
    positions: Sequence[int]
    top_k: int = 10

    def check(self) -> None:
        normalize(self, positions=tuple(self.positions))

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...]:
        from model_zoo import masked

        return masked.restore(loaded, self.text, self.ids, self.positions, self.top_k)
