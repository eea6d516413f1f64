"""What a causal language model would say comes next after every layer: the logit lens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.types import MaskLens


@dataclass(frozen=True, slots=True)
class FollowNext(Question[tuple[MaskLens, ...]]):
    """The tokens at ``positions``, or the one behind the text without them; see ``EngineInterface.next_lens``."""

    head = "lm"

    model: str
    text: str
    top_k: int = 5
    positions: Sequence[int] | None = None

    def __post_init__(self) -> None:
        texts.check(self.text)
        check_top_k(self.top_k)
        if self.positions is not None:
            normalize(self, positions=tuple(self.positions))
            if not self.positions:
                raise InvalidInput("No position is chosen. Choose at least one, or leave the choice out for all.")

    def answer(self, loaded: LoadedModel) -> tuple[MaskLens, ...]:
        from model_zoo import causal

        return causal.next_lens(loaded, self.text, self.top_k, self.positions)

    @classmethod
    def example(cls, model: str) -> FollowNext:
        return cls(model, "The cat sat", 2, positions=(1, 2))
