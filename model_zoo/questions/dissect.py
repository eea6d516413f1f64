"""A text on its way through one layer and one head, stage by stage."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Anatomy


@dataclass(frozen=True, slots=True)
class Dissect(Question[Anatomy]):
    """A text on its way through one layer and one head (both from 0), stage by stage, computed from the weights.

    Raises InvalidInput for a layer or a head that does not exist. For a model whose parts are not known, the answer's
    ``why_not`` says so.
    """

    full_precision = True
    example_fields: ClassVar = {"text": "The cat sat."}

    model: str
    text: str
    text_pair: str | None = None
    layer: int = 0
    head: int = 0

    def answer(self, loaded: LoadedModel) -> Anatomy:
        from model_zoo import anatomy

        return anatomy.dissect(loaded, self.text, self.text_pair, self.layer, self.head)
