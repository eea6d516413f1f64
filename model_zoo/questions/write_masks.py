"""A text with some of its tokens written as the model's mask."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, normalize


@dataclass(frozen=True, slots=True)
class WriteMasks(Question[str]):
    """The tokens are those at the positions ``masked``; see ``EngineInterface.masked_text``."""

    runs_model = False
    head = "mlm"

    model: str
    text: str
    masked: Collection[int]

    def __post_init__(self) -> None:
        texts.check(self.text)
        normalize(self, masked=frozenset(self.masked))

    def answer(self, loaded: LoadedModel) -> str:
        from model_zoo import masked

        return masked.masked_text(loaded, self.text, self.masked)

    @classmethod
    def example(cls, model: str) -> WriteMasks:
        return cls(model, "The cat sat.", (2,))
