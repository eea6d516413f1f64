"""The logit of an answer as a sum of what each part of a model wrote."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.questions.intervene import check_aim
from model_zoo.types import Decomposition, TargetAnswer


@dataclass(frozen=True, slots=True)
class Decompose(Question[Decomposition]):
    """With the ``top_k`` tokens that each part raises most; see ``EngineInterface.decompose``."""

    model: str
    text: str
    text_pair: str | None = None
    masked: Collection[int] = ()
    aim: TargetAnswer = field(default_factory=TargetAnswer)
    top_k: int = 5

    def __post_init__(self) -> None:
        texts.check_pair(self.text, self.text_pair)
        check_aim(self.aim)
        check_top_k(self.top_k)
        normalize(self, masked=frozenset(self.masked))

    def answer(self, loaded: LoadedModel) -> Decomposition:
        from model_zoo.interventions.decompose import decompose

        return decompose(loaded, self)

    @classmethod
    def example(cls, model: str) -> Decompose:
        return cls(model, "The cat sat.", None, (2,), top_k=3)
