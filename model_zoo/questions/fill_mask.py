"""The predictions at the masks of a text."""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class FillMask(Question[tuple[MaskPrediction, ...]]):
    """One entry a mask: its position, and (token, id, probability) best first; for a list of texts, a list of these.

    Masks are those typed, as the model writes its own or as [MASK], and the tokens at the positions ``masked`` of a
    single text. ``targets`` are words whose probability is wanted at every mask, whatever their rank: a word means the
    token that the tokenizer makes of it at the mask's place, ``"##ing"`` or ``"Ġcat"`` the token itself, and a number
    an id. Raises InvalidInput where there is no mask or a target is not a single token, NotSupported for a model
    without a masked-word head.
    """

    needs = "mlm"
    example_fields: ClassVar = {"text": "The [MASK] sat.", "top_k": 3, "masked": (3,), "targets": ("cat",)}

    model: str
    text: str
    top_k: int = 10
    masked: Collection[int] = ()
    targets: Sequence[str | int] = ()

    @property
    def together(self) -> Hashable:
        return self.top_k, self.targets

    @classmethod
    def answer_all(
        cls, loaded: LoadedModel, questions: Sequence[Self]
    ) -> Iterator[tuple[int, tuple[MaskPrediction, ...]]]:
        from model_zoo.masked import mask_and_slots
        from model_zoo.prediction_heads import predictions

        first = questions[0]
        hidden, slots = [], []
        for which, question in enumerate(questions):
            try:
                masks, wanted = mask_and_slots(loaded, question.text, question.masked, first.targets)
            except InvalidInput as error:
                error.which = which
                raise
            hidden.append(masks)
            slots.append(wanted)
        yield from predictions(loaded, hidden, slots, first.top_k)
