"""The vectors of a text's tokens after every layer."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo.question import LoadedModel, Question, check_layers, normalize
from model_zoo.types import HiddenStates


@dataclass(frozen=True, slots=True)
class EncodeStates(Question[HiddenStates]):
    """Tokens and vectors of a text or a pair, or of a list of texts and pairs in its order; a pair is a tuple of two.

    ``layers`` are the wanted ones, in the wanted order: 0 is after the embeddings, k after the k-th layer; without it,
    all of them. For an encoder-decoder they are the encoder's. Raises InvalidInput for text no tokenizer reads and for
    layers that do not exist.
    """

    example_fields: ClassVar = {"text": "The cat sat.", "layers": (1, 0)}

    model: str
    text: str
    text_pair: str | None = None
    layers: Sequence[int] | None = None

    def check(self) -> None:
        if self.layers is not None:
            normalize(self, layers=check_layers(self.layers))

    @property
    def together(self) -> Hashable:
        return self.layers

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, HiddenStates]]:
        from model_zoo import running

        pairs = [(question.text, question.text_pair) for question in questions]
        return running.hidden_states(loaded, pairs, questions[0].layers)
