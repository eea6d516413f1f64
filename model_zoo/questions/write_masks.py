"""A text with some of its tokens written as the model's mask."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from model_zoo.question import LoadedModel, Question


@dataclass(frozen=True, slots=True)
class WriteMasks(Question[str]):
    """The text with the tokens at the positions ``masked`` written as the model's mask."""

    runs_model = False
    needs = "mlm"

    model: str
    text: str
    masked: Collection[int]

    def answer(self, loaded: LoadedModel) -> str:
        from model_zoo import masked

        return masked.masked_text(loaded, self.text, self.masked)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, "The cat sat.", (2,))
