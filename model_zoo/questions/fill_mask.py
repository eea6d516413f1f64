"""What stands behind the masks of a text."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question, check_top_k, normalize
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class FillMask(Question[tuple[MaskPrediction, ...]]):
    """Masks are those typed and the tokens at the positions ``masked``; see ``EngineInterface.fill_mask``."""

    head = "mlm"

    model: str
    text: str
    top_k: int = 10
    masked: Collection[int] = ()
    targets: Sequence[str | int] = ()

    def __post_init__(self) -> None:
        texts.check(self.text)
        check_top_k(self.top_k)
        normalize(self, masked=frozenset(self.masked), targets=tuple(self.targets))

    @property
    def together(self) -> Hashable:
        return self.top_k, self.targets

    @classmethod
    def answer_all(
        cls, loaded: LoadedModel, questions: Sequence[FillMask]
    ) -> Iterator[tuple[int, tuple[MaskPrediction, ...]]]:
        from model_zoo import masked

        first = questions[0]
        read, hidden = [question.text for question in questions], [question.masked for question in questions]
        return masked.fill_mask(loaded, read, hidden, first.top_k, first.targets)

    @classmethod
    def example(cls, model: str) -> FillMask:
        return cls(model, "The [MASK] sat.", 3, masked=(3,), targets=("cat",))
