"""The tokens that a model sees of a text."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Encoding


@dataclass(frozen=True, slots=True)
class Encode(Question[Encoding]):
    """The tokens of a text, or a pair of texts, in which [MASK] stands for the model's own mask."""

    runs_model = False
    example_fields: ClassVar = {"text": "The cat sat."}

    model: str
    text: str
    text_pair: str | None = None

    def answer(self, loaded: LoadedModel) -> Encoding:
        return loaded.encode(self.text, self.text_pair)
