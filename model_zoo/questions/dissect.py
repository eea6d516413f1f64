"""A text on its way through one layer and one head, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question
from model_zoo.types import Anatomy


@dataclass(frozen=True, slots=True)
class Dissect(Question[Anatomy]):
    """One text or pair in a layer and a head, both from 0; see ``EngineInterface.dissect``."""

    model: str
    text: str
    text_pair: str | None = None
    layer: int = 0
    attention_head: int = 0

    def __post_init__(self) -> None:
        texts.check_pair(self.text, self.text_pair)

    def answer(self, loaded: LoadedModel) -> Anatomy:
        from model_zoo import anatomy

        return anatomy.dissect(loaded, self.text, self.text_pair, self.layer, self.attention_head)

    @classmethod
    def example(cls, model: str) -> Dissect:
        return cls(model, "The cat sat.")
