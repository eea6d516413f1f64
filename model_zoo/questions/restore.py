"""What a model predicts where some tokens of its input were replaced, as in training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class Restore(Question[tuple[MaskPrediction, ...]]):
    """The predictions at some positions of a text, when the model is given other ``ids`` there, as in its training."""

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"text": ".", "ids": (0, 1, 2), "positions": (1,), "top_k": 3}

    model: str
    text: str
    ids: Sequence[int]
    positions: Sequence[int]
    top_k: int = 10

    def check(self) -> None:
        normalize(self, positions=tuple(self.positions))

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...]:
        from model_zoo.masked import refuse_unmaskable, refuse_without_head
        from model_zoo.prediction_heads import Slot, predictions

        refuse_without_head(loaded)
        encoding, ids = loaded.encode(self.text), tuple(self.ids)
        refuse_unmaskable(encoding, self.positions)
        if len(ids) != len(encoding):
            raise InvalidInput(
                f"The text has {len(encoding)} tokens, but there are {len(ids)} ids. Give one id per token."
            )
        if not self.positions:
            return ()
        slots = [Slot(position, position, encoding.ids[position]) for position in self.positions]
        ((_, answers),) = predictions(loaded, [replace(encoding, ids=ids)], [slots], self.top_k)
        return answers
