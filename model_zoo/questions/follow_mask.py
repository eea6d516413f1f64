"""What a model would predict at a mask after every layer: the logit lens."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question
from model_zoo.types import FittedLens, MaskLens


@dataclass(frozen=True, slots=True)
class FollowMask(Question[tuple[MaskLens, ...]]):
    """The masked-word head applied to each mask after every layer (logit lens), with the ``top_k`` tokens of each.

    With a ``fitted`` lens, to what its maps make of the vectors; one of other weights is refused (InvalidInput).
    """

    needs = "mlm"
    example_fields: ClassVar = {"text": "The [MASK] sat.", "top_k": 2, "masked": (3,)}

    model: str
    text: str
    top_k: int = 5
    masked: Collection[int] = ()
    fitted: FittedLens | None = None

    def answer(self, loaded: LoadedModel) -> tuple[MaskLens, ...]:
        from model_zoo.masked import mask_and_slots
        from model_zoo.prediction_heads import lens

        return lens(loaded, *mask_and_slots(loaded, self.text, self.masked), self.top_k, self.fitted)
