"""One mask filled after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Streamed, normalize
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class FillAll(Streamed[MaskPrediction, tuple[MaskPrediction, ...]]):
    """The most confident first, each by its best token; see ``EngineInterface.fill_all``."""

    head = "mlm"

    model: str
    text: str
    masked: Collection[int] = ()

    def __post_init__(self) -> None:
        texts.check(self.text)
        normalize(self, masked=frozenset(self.masked))

    def parts(self, loaded: LoadedModel) -> Iterator[MaskPrediction]:
        from model_zoo import masked

        return masked.fill_all(loaded, self.text, self.masked)

    @classmethod
    def example(cls, model: str) -> FillAll:
        return cls(model, "The [MASK] sat.", masked=(3,))
