"""How far the logit lens and a fitted lens are from the final prediction at masks of many sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from evidence.items import check_masked_texts
from model_zoo.question import Streamed, normalize
from model_zoo.types import FittedLens, LensDistances

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class JudgeLens(Streamed[LensDistances, LensDistances]):
    """KL(final prediction ‖ lens) in nats at the masks of ``ReadMasks``, for the logit lens and a ``fitted`` one.

    Raises what ``ReadMasks`` raises, and InvalidInput for a lens of another model or of other weights.
    """

    remembered = False  # work in the background asks these, each once

    model: str
    texts: tuple[str, ...]
    fitted: FittedLens | None = None
    most: int = 4

    def check(self) -> None:
        normalize(self, texts=check_masked_texts(self.texts, self.most))

    def parts(self, loaded: LoadedModel) -> Iterator[LensDistances]:
        from evidence.lenses import distances

        return distances(loaded, self)

    def combine(self, parts: Sequence[LensDistances]) -> LensDistances:
        return LensDistances.joined(parts)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, ("The cat sat.", "It rained all day."), most=2)
