"""What a causal language model expects behind a text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class PredictNext(Question[MaskPrediction]):
    """The ``top_k`` best tokens, and ``targets`` whatever their rank; see ``EngineInterface.next_tokens``."""

    head = "lm"

    model: str
    text: str
    top_k: int = 10
    targets: Sequence[str | int] = ()

    def __post_init__(self) -> None:
        texts.check(self.text)
        check_top_k(self.top_k)
        normalize(self, targets=tuple(self.targets))

    @property
    def together(self) -> Hashable:
        return self.top_k, self.targets

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[PredictNext]) -> Iterator[tuple[int, MaskPrediction]]:
        from model_zoo import causal

        first = questions[0]
        read = [question.text for question in questions]
        return enumerate(causal.next_tokens(loaded, read, first.top_k, first.targets))

    @classmethod
    def example(cls, model: str) -> PredictNext:
        return cls(model, "The cat", 3, targets=(7,))
