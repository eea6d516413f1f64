"""Whether one sentence follows another, as far as a model was trained to tell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question
from model_zoo.types import SentenceScore


@dataclass(frozen=True, slots=True)
class JudgePair(Question[SentenceScore]):
    """Whether B follows A: ``.p_next`` in [0, 1]. For ALBERT: whether A and B are in order (``.kind`` "SOP").

    Raises NotSupported for a model without such a head.
    """

    needs = "nsp"
    example_fields: ClassVar = {"a": "The cat sat.", "b": "It slept."}

    model: str
    a: str
    b: str

    def check(self) -> None:
        texts.check_sentences([(self.a, self.b)])

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, SentenceScore]]:
        from model_zoo import sentence

        return sentence.next_sentences(loaded, [(question.a, question.b) for question in questions])
