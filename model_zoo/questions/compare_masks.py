"""How the predictions at masks move when the text around them is changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.types import Shift


@dataclass(frozen=True, slots=True)
class CompareMasks(Question[tuple[tuple[Shift, ...], ...]]):
    """Two texts, each with its masked positions; see ``EngineInterface.mask_shifts``."""

    head = "mlm"

    model: str
    before: tuple[str, Collection[int]]
    after: tuple[str, Collection[int]]
    top_k: int = 10

    def __post_init__(self) -> None:
        texts.check(self.before[0], "The first text")
        texts.check(self.after[0], "The second text")
        check_top_k(self.top_k)
        normalize(
            self,
            before=(self.before[0], frozenset(self.before[1])),
            after=(self.after[0], frozenset(self.after[1])),
        )

    def answer(self, loaded: LoadedModel) -> tuple[tuple[Shift, ...], ...]:
        from model_zoo import masked

        return masked.shifts(loaded, self.before, self.after, self.top_k)

    @classmethod
    def example(cls, model: str) -> CompareMasks:
        return cls(model, ("The [MASK] sat.", ()), ("A [MASK] sat.", ()), 3)
