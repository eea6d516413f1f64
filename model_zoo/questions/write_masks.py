"""A text with some of its tokens written as the model's mask."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question


@dataclass(frozen=True, slots=True)
class WriteMasks(Question[str]):
    """The text with the tokens at the positions ``masked`` written as the model's mask."""

    runs_model = False
    needs = "mlm"
    example_fields: ClassVar = {"text": "The cat sat.", "masked": (2,)}

    model: str
    text: str
    masked: Collection[int]

    def answer(self, loaded: LoadedModel) -> str:
        from model_zoo import masked

        return masked.masked_text(loaded, self.text, self.masked)
