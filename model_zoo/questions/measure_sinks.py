"""What every head does with the special tokens of a text."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Sinks


@dataclass(frozen=True, slots=True)
class MeasureSinks(Question[Sinks]):
    """How much every head looks at each special token of a text or a pair, how long that token's value is, what it adds
    to the residual stream, and how alike the head's update is for all tokens; of the encoder, or of a model's only
    part.

    In a text without special tokens the first token stands for them. Raises InvalidInput for a text without other
    tokens, and NotSupported for models without attention, values or a known output projection.
    """

    example_fields: ClassVar = {"text": "The cat sat."}

    model: str
    text: str
    text_pair: str | None = None
    max_tokens: int | None = None

    def answer(self, loaded: LoadedModel) -> Sinks:
        from model_zoo import running, sinks

        return sinks.measure_run(running.attend(loaded, self.text, self.text_pair, self.max_tokens, states_of=True))
