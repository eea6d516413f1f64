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
        from model_zoo.prediction_heads import Slot, lens

        causal.refuse_without_head(loaded)
        encoding = causal.encode_without_end(loaded, self.text)
        n = len(encoding)
        positions = [n] if self.positions is None else list(self.positions)
        if positions == [n]:
            causal.encode_uncut(loaded, self.text)
        for position in positions:
            if not 1 <= position <= n:
                raise InvalidInput(
                    f"The prediction for position {position} cannot be traced: the text has tokens 0 to {n - 1}, "
                    f"nothing comes before the first, and {n} is the next one. Choose 1 to {n}."
                )
        known = [*encoding.ids, None]
        slots = [Slot(position, position - 1, known[position]) for position in positions]
        return lens(loaded, encoding, slots, self.top_k, self.fitted)
