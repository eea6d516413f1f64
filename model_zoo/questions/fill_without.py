"""The predictions at masks when the model cannot see something: later tokens, or the order of tokens."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, get_args

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question
from model_zoo.types import MaskPrediction, Without


@dataclass(frozen=True, slots=True)
class FillWithout(Question[tuple[MaskPrediction, ...]]):
    """As ``fill_mask``, for a model that cannot see something: with "future" no token may attend to those after it;
    with "positions" all tokens get the same position, so that their order is lost. The window of near tokens that a
    layer looks at (ModernBERT) stays with "future", and is lifted with "positions", since it tells who stands near.

    Raises NotSupported as ``fill_mask`` does, and for networks that take no such input.
    """

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"text": "The [MASK] sat.", "top_k": 3}

    model: str
    text: str
    masked: Collection[int] = ()
    without: Without = "future"
    top_k: int = 10

    def check(self) -> None:
        if self.without not in get_args(Without):
            raise InvalidInput(f"A model cannot be run without {self.without!r} here. Choose future or positions.")

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...]:
        from model_zoo import masked

        return masked.fill_without(loaded, self.text, self.masked, self.without, self.top_k)
