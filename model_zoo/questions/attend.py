"""What every head of every layer attends to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, check_layers, check_stack, normalize
from model_zoo.types import AttentionRun, Stack


@dataclass(frozen=True, slots=True)
class Attend(Question[AttentionRun]):
    """One text or pair, cut at ``max_tokens`` or at the model's limit; see ``EngineInterface.attend``."""

    model: str
    text: str
    text_pair: str | None = None
    max_tokens: int | None = None
    stack: Stack = "encoder"
    states: Sequence[int] | bool = False

    def __post_init__(self) -> None:
        check_stack(self.stack)
        if not isinstance(self.states, bool):
            normalize(self, states=check_layers(self.states))
        if self.states and self.stack != "encoder":
            raise InvalidInput(
                f'Hidden states come with the part "encoder", not with {self.stack!r}. Ask for one of the two.'
            )
        texts.check_pair(self.text, self.text_pair)

    def answer(self, loaded: LoadedModel) -> AttentionRun:
        from model_zoo import running

        return running.attend(loaded, self.text, self.text_pair, self.max_tokens, self.stack, self.states)

    @property
    def together(self) -> Hashable:
        return self.max_tokens, self.stack, self.states

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Attend]) -> Iterator[tuple[int, AttentionRun]]:
        from model_zoo import running

        first = questions[0]
        if first.stack != "encoder":  # a decoder's runs are not batched
            return enumerate(question.answer(loaded) for question in questions)
        pairs = [(question.text, question.text_pair) for question in questions]
        return running.attend_many(loaded, pairs, first.max_tokens, first.states)

    @classmethod
    def example(cls, model: str) -> Attend:
        return cls(model, "The cat sat.", "It slept.", states=True)
