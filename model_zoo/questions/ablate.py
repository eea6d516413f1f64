"""What a model answers with parts of it switched off."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.questions.intervene import Intervene, check_value
from model_zoo.types import Change, MaskPrediction, Reads, SentenceScore, TargetAnswer, Value


@dataclass(frozen=True, slots=True)
class Ablate(Question[tuple[MaskPrediction, ...] | SentenceScore]):
    """The answers of one changed run; see ``EngineInterface.ablate``."""

    model: str
    text: str
    text_pair: str | None = None
    change: Change = field(default_factory=Change)
    masked: Collection[int] = ()
    value: Value = "zero"
    other: tuple[str, str | None] | None = None
    top_k: int = 10
    targets: Sequence[str | int] = ()

    def __post_init__(self) -> None:
        texts.check_pair(self.text, self.text_pair)
        check_top_k(self.top_k)
        check_value(self.value, self.other)
        normalize(self, masked=frozenset(self.masked), targets=tuple(self.targets))

    def intervention(self, loaded: LoadedModel) -> Intervene:
        """The same run as a question for what one change does to an answer."""
        kind: Reads = "next sentence" if self.text_pair is not None else "next token" if loaded.info.lm else "mask"
        change = (self.change,)
        return Intervene(
            self.model, self.text, self.text_pair, self.masked, TargetAnswer(kind), change, self.value, self.other
        )

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...] | SentenceScore:
        from model_zoo.interventions.intervene import ablate

        return ablate(loaded, self)

    @classmethod
    def example(cls, model: str) -> Ablate:
        return cls(model, "The cat sat.", None, Change(heads=((0, 0),)), masked=(2,), top_k=3)
