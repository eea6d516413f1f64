"""Masks filled one after the other."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from model_zoo.question import LoadedModel, Streamed
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class FillAll(Streamed[MaskPrediction, tuple[MaskPrediction, ...]]):
    """Fill one mask after the other, the most confident first; yields each as it is filled by its best token."""

    needs = "mlm"
    example_fields: ClassVar = {"text": "The [MASK] sat.", "masked": (3,)}

    model: str
    text: str
    masked: Collection[int] = ()

    def parts(self, loaded: LoadedModel) -> Iterator[MaskPrediction]:
        from model_zoo.masked import mask_and_slots
        from model_zoo.prediction_heads import predictions

        hidden, slots = mask_and_slots(loaded, self.text, self.masked)
        while slots:  # the model runs again on what has been filled so far
            ((_, answers),) = predictions(loaded, [hidden], [slots], 1)
            surest = max(answers, key=lambda answer: answer.best[0].probability)
            yield surest
            slots = [slot for slot in slots if slot.position != surest.position]
            ids = list(hidden.ids)
            ids[surest.position] = surest.best[0].id
            hidden = replace(hidden, ids=tuple(ids))
