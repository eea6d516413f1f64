"""A question of this package: how well a model does on the built-in held-out sentences. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_zoo.question import Streamed
from model_zoo.types import Quality

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class MeasureQuality(Streamed[Quality, Quality]):
    """The figures of ``python -m training.evaluate``.

    The parts are what is known so far, after every batch; the answer is the last of them, which is all there is.
    """

    model: str

    def parts(self, loaded: LoadedModel) -> Iterator[Quality]:
        from training import quality

        return quality.measure_quality(loaded)

    def combine(self, parts: Sequence[Quality]) -> Quality:
        return parts[-1]

    def replay(self, merged: Quality) -> Iterable[Quality]:
        return (merged,)

    @classmethod
    def example(cls, model: str) -> MeasureQuality:
        return cls(model)
