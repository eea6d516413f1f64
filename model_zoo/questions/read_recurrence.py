"""What an LSTM carries along a text, and how much each token still moves its last state."""

from dataclasses import dataclass
from typing import Self

from model_zoo.question import LoadedModel, Question
from model_zoo.types import RecurrentPass


@dataclass(frozen=True, slots=True)
class ReadRecurrence(Question[RecurrentPass]):
    """Of the first layer, read from left to right. Raises NotSupported for a model without an LSTM."""

    model: str
    text: str

    def answer(self, loaded: LoadedModel) -> RecurrentPass:
        from model_zoo import recurrence

        return recurrence.trace(loaded, self.text)

    @classmethod
    def example(cls, model: str) -> Self:  # noqa: ARG003 (most models have no LSTM)
        return cls("embedded/bilstm", "The cat sat.")
