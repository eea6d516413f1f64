"""What stands behind masks when the model is kept from seeing something: what comes later, or where tokens stand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.types import MaskPrediction, Without


@dataclass(frozen=True, slots=True)
class FillWithout(Question[tuple[MaskPrediction, ...]]):
    """Masks as in ``FillMask``; see ``EngineInterface.fill_without``."""

    head = "mlm"

    model: str
    text: str
    masked: Collection[int] = ()
    without: Without = ""
    top_k: int = 10

    def __post_init__(self) -> None:
        if self.without not in get_args(Without):
            raise InvalidInput(f"A model cannot be run without {self.without!r} here. Choose future or positions.")
        texts.check(self.text)
        check_top_k(self.top_k)
        normalize(self, masked=frozenset(self.masked))

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...]:
        from model_zoo import masked

        return masked.fill_without(loaded, self.text, self.masked, self.without, self.top_k)

    @classmethod
    def example(cls, model: str) -> FillWithout:
        return cls(model, "The [MASK] sat.", (), "future", 3)
