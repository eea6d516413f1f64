"""What the prediction head is given at masks of many sentences, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from evidence.items import check_masked_texts
from model_zoo.question import Streamed, normalize
from model_zoo.types import MaskVectors

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class ReadMasks(Streamed[MaskVectors, MaskVectors]):
    """The vectors at ``most`` masks of each text, each alone in its text, as the logit lens gives them to the head.

    Tokens with a letter or a digit are masked, drawn by the text alone, and so are fewer where it has no more; a causal
    model masks nothing and reads the tokens before them. Raises NotSupported for a model without such a head or whose
    head does not read its layers.
    """

    remembered = False  # work in the background asks these, each once

    model: str
    texts: tuple[str, ...]
    most: int = 4

    def check(self) -> None:
        normalize(self, texts=check_masked_texts(self.texts, self.most))

    def parts(self, loaded: LoadedModel) -> Iterator[MaskVectors]:
        from evidence.lenses import vectors

        return vectors(loaded, self)

    def combine(self, parts: Sequence[MaskVectors]) -> MaskVectors:
        return MaskVectors.joined(parts)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, ("The cat sat.", "It rained all day."), 2)
