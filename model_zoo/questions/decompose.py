"""The logit of a prediction as a sum of what each part of a model contributes."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import OWN_BEST, LoadedModel, Question
from model_zoo.types import Decomposition, TargetAnswer


@dataclass(frozen=True, slots=True)
class Decompose(Question[Decomposition]):
    """The logit of a prediction as the sum of embeddings, every head, every feed-forward layer, and biases (direct
    logit attribution), with the ``top_k`` tokens that each part promotes most.

    Raises InvalidInput for answers about whole texts, NotSupported for families whose layers are not known part by
    part.
    """

    full_precision = True
    example_fields: ClassVar = {"text": "The cat sat.", "masked": (2,), "top_k": 3}

    model: str
    text: str
    text_pair: str | None = None
    masked: Collection[int] = ()
    aim: TargetAnswer = OWN_BEST
    top_k: int = 5

    def check(self) -> None:
        if self.aim.reads not in ("mask", "next token"):
            raise InvalidInput(
                "Only the logit of a token can be written as a sum. Ask for the prediction at a mask, or after a text."
            )

    def answer(self, loaded: LoadedModel) -> Decomposition:
        from model_zoo.interventions.decompose import decompose
        from model_zoo.interventions.reading import reader

        return decompose(reader(loaded, self.text, self.text_pair, self.masked, self.aim), self.top_k)
