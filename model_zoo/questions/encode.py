"""The tokens that a model sees of a text."""

from __future__ import annotations

from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question
from model_zoo.types import Encoding


@dataclass(frozen=True, slots=True)
class Encode(Question[Encoding]):
    """Of one text or pair; see ``EngineInterface.encode``."""

    runs_model = False

    model: str
    text: str
    text_pair: str | None = None

    def __post_init__(self) -> None:
        texts.check_pair(self.text, self.text_pair)

    def answer(self, loaded: LoadedModel) -> Encoding:
        return loaded.encode(self.text, self.text_pair)

    @classmethod
    def example(cls, model: str) -> Encode:
        return cls(model, "The cat sat.")
