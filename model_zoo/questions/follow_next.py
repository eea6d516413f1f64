"""What a causal language model would predict as the next token after every layer: the logit lens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.types import FittedLens, MaskLens


@dataclass(frozen=True, slots=True)
class FollowNext(Question[tuple[MaskLens, ...]]):
    """The logit lens of a causal language model: its head applied after every layer, one entry a position.

    ``positions`` are those of the predicted tokens, from 1 (nothing comes before the first) to n, the one after the
    text; without it, only the one after the text. A ``fitted`` lens is used as in ``FollowMask``.
    """

    needs = "lm"
    example_fields: ClassVar = {"text": "The cat sat", "top_k": 2, "positions": (1, 2)}

    model: str
    text: str
    top_k: int = 5
    positions: Sequence[int] | None = None
    fitted: FittedLens | None = None

    def check(self) -> None:
        if self.positions is not None:
            normalize(self, positions=tuple(self.positions))
            if not self.positions:
                raise InvalidInput("No position is chosen. Choose at least one, or leave the choice out for all.")

    def answer(self, loaded: LoadedModel) -> tuple[MaskLens, ...]:
        from model_zoo import causal

        return causal.next_lens(loaded, self.text, self.top_k, self.positions, self.fitted)
