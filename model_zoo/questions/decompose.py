"""The logit of a prediction as a sum of what each part of a model contributes."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from model_zoo.question import OWN_BEST, LoadedModel, Question
from model_zoo.types import Decomposition, TargetAnswer


@dataclass(frozen=True, slots=True)
class Decompose(Question[Decomposition]):
    """The logit of a prediction as the sum of embeddings, every head, every feed-forward layer, and biases (direct
    logit attribution), with the ``top_k`` tokens that each part promotes most.

    Raises NotSupported for families whose layers are not known part by part.
    """

    full_precision = True

    model: str
    text: str
    text_pair: str | None = None
    masked: Collection[int] = ()
    aim: TargetAnswer = OWN_BEST
    top_k: int = 5

    def answer(self, loaded: LoadedModel) -> Decomposition:
        from model_zoo.interventions.decompose import decompose

        return decompose(loaded, self)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, "The cat sat.", None, (2,), top_k=3)
