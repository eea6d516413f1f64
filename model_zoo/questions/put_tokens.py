"""A text with some of its tokens replaced by others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question, normalize


@dataclass(frozen=True, slots=True)
class PutTokens(Question[str]):
    """The text with the tokens at some positions replaced by others, with spaces as they are read; ``fills`` are
    positions and ids, as a mapping or as pairs.
    """

    runs_model = False
    example_fields: ClassVar = {"text": "The cat sat.", "fills": {2: 7}}

    model: str
    text: str
    fills: Mapping[int, int] | Sequence[tuple[int, int]]

    def check(self) -> None:
        normalize(self, fills=tuple(sorted(dict(self.fills).items())))

    def answer(self, loaded: LoadedModel) -> str:
        from model_zoo import masked

        return masked.fill_masks(loaded, self.text, dict(self.fills))
