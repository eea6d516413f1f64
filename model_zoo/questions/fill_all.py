"""Masks filled one after the other."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
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
        from model_zoo import masked

        return masked.fill_all(loaded, self.text, self.masked)
