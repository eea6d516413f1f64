"""How the predictions at masks move when the text around them is changed."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.types import Shift


@dataclass(frozen=True, slots=True)
class CompareMasks(Question[tuple[tuple[Shift, ...], ...]]):
    """The predictions that changed most between two texts, for each mask; each text comes with its masked positions."""

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"before": ("The [MASK] sat.", ()), "after": ("A [MASK] sat.", ()), "top_k": 3}

    model: str
    before: tuple[str, Collection[int]]
    after: tuple[str, Collection[int]]
    top_k: int = 10

    def check(self) -> None:
        for name, noun in (("before", "The first text"), ("after", "The second text")):
            text, masked = getattr(self, name)
            normalize(self, **{name: (texts.check(text, noun), frozenset(masked))})

    def answer(self, loaded: LoadedModel) -> tuple[tuple[Shift, ...], ...]:
        from model_zoo import masked

        return masked.shifts(loaded, self.before, self.after, self.top_k)
