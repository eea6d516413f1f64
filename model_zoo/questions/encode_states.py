"""The vectors of a text's tokens after every layer."""

import warnings
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, check_layers, normalize
from model_zoo.types import HiddenStates, counted


@dataclass(frozen=True, slots=True)
class EncodeStates(Question[HiddenStates]):
    """Tokens and vectors of a text or a pair, or of a list of texts and pairs in its order; a pair is a tuple of two.

    ``layers`` are the wanted ones, in the wanted order: 0 is after the embeddings, k after the k-th layer; without it,
    all of them. For an encoder-decoder they are the encoder's. The text is cut at the model's limit, or at
    ``max_tokens`` if that is less. A checkpoint of sentence-transformers may name a limit of its own, which is not
    applied unless it is given here: where a text is longer, the engine's methods warn, and the answer says so
    (``published_limit``). Raises InvalidInput for text no tokenizer reads and for layers that do not exist.
    """

    example_fields: ClassVar = {"text": "The cat sat.", "layers": (1, 0)}

    model: str
    text: str
    text_pair: str | None = None
    layers: Sequence[int] | None = None
    max_tokens: int | None = None

    def check(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InvalidInput(f"Of a text at least 1 token is read; max_tokens is {self.max_tokens}.")
        if self.layers is not None:
            normalize(self, layers=check_layers(self.layers))

    @property
    def together(self) -> Hashable:
        return self.layers, self.max_tokens

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, HiddenStates]]:
        from model_zoo import running

        pairs = [(question.text, question.text_pair) for question in questions]
        return running.hidden_states(loaded, pairs, questions[0].layers, questions[0].max_tokens)

    @staticmethod
    def warn_of_longer(model: str, answers: Sequence[HiddenStates]) -> None:
        """A UserWarning if texts were read beyond the limit that the model's files name."""
        limits = [answer.published_limit for answer in answers if answer.published_limit is not None]
        if limits:
            warnings.warn(
                f"{model}: {counted(len(limits), 'text')} read beyond {limits[0]:,} tokens, where "
                f"sentence-transformers cuts, as the model's files ask. max_tokens={limits[0]} does the same.",
                stacklevel=3,
            )
