"""Which tokens an answer rests on, by hiding words, by gradients or by attention."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.questions.intervene import check_aim
from model_zoo.types import MEASURES, METHODS, Attribution, Measure, Method, TargetAnswer

MOST_STEPS = 1024


@dataclass(frozen=True, slots=True)
class Attribute(Question[Attribution]):
    """A number a token; ``steps`` are those of integrated gradients. See ``EngineInterface.attribute``."""

    model: str
    text: str
    text_pair: str | None = None
    masked: Collection[int] = ()
    aim: TargetAnswer = field(default_factory=TargetAnswer)
    method: Method = "integrated gradients"
    measure: Measure = "log P"
    steps: int = 32

    def __post_init__(self) -> None:
        texts.check_pair(self.text, self.text_pair)
        check_aim(self.aim)
        if self.method not in METHODS:
            raise InvalidInput(f"There is no method {self.method!r}. Choose {', '.join(METHODS)}.")
        if self.measure not in MEASURES:
            raise InvalidInput(f"There is no measure {self.measure!r}. Choose {', '.join(MEASURES)}.")
        if self.measure == "logit difference" and self.aim.foil is None:
            raise InvalidInput("A logit difference is between two answers. Give a second one, against the first.")
        if not 1 <= self.steps <= MOST_STEPS:
            raise InvalidInput(f"{self.steps:,} steps cannot be taken. Choose 1 to {MOST_STEPS:,}.")
        normalize(self, masked=frozenset(self.masked))

    def answer(self, loaded: LoadedModel) -> Attribution:
        from model_zoo.interventions.attribute import attribute

        return attribute(loaded, self)

    @classmethod
    def example(cls, model: str) -> Attribute:
        return cls(model, "The cat sat.", None, (2,), steps=2)
