"""A text with some of its tokens written as the model's mask."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question


@dataclass(frozen=True, slots=True)
class WriteMasks(Question[str]):
    """The text with the tokens at the positions ``masked`` written as the model's mask."""

    runs_model = False
    needs = "mlm"
    example_fields: ClassVar = {"text": "The cat sat.", "masked": (2,)}

    model: str
    text: str
    masked: Collection[int]

    def answer(self, loaded: LoadedModel) -> str:
        from model_zoo.masked import encode_replaceable, refuse_without_head

        refuse_without_head(loaded)
        encoding = encode_replaceable(loaded, self.text, self.masked)
        written, rest = encoding.text, len(encoding.text)
        for position in sorted(self.masked, reverse=True):
            start, end = encoding.offsets[position]
            end = min(end, rest)  # pieces of one character (bytes) share its span
            written, rest = written[:start] + loaded.tokenizer.mask_token + written[end:], start
        return written
