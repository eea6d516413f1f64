"""What every head of every layer attends to."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, check_layers, normalize
from model_zoo.types import AttentionRun, Stack


@dataclass(frozen=True, slots=True)
class Attend(Question[AttentionRun]):
    """Run a text, or a pair of texts, and keep what every head's attention is computed from.

    Instead of one text there may be a list of texts and pairs, a pair being a tuple of two: their runs come in the same
    order, and are made in batches of similar length. A run holds its own tokens only, without padding, and differs by
    rounding alone (about 1e-6) from one made by itself. The text is cut at the model's limit, or at ``max_tokens`` if
    that is less.

    A model with a single stack of layers, such as BERT or the causal GPT-2, has the ``stack`` "encoder" only. An
    encoder-decoder (BART, T5) also has "decoder", its attention to what it has written so far, and "cross", its
    attention to what the encoder has read. There the encoder reads ``text`` alone, and ``text_pair`` is what the
    decoder has written: the decoder is given that text as in training, a start token first and every token one place
    later. Without a ``text_pair`` BART's decoder restores the first text, as it was trained to do. T5's decoder was not
    trained to do that, and no output is invented for it: it has written nothing yet and holds its start token alone.

    With ``states`` the run holds the hidden states of the same pass: all of them, or those of the layers named, as in
    ``encoded_states``. Only the part "encoder" has them. Raises InvalidInput for text no tokenizer reads, NotSupported
    for models without attention or without the part, and what ``model_zoo.sources`` raises for models that cannot be
    had.
    """

    example_fields: ClassVar = {"text": "The cat sat.", "text_pair": "It slept.", "states": True}

    model: str
    text: str
    text_pair: str | None = None
    max_tokens: int | None = None
    stack: Stack = "encoder"
    states: Sequence[int] | bool = False

    def check(self) -> None:
        if not isinstance(self.states, bool):
            normalize(self, states=check_layers(self.states))
        if self.states and self.stack != "encoder":
            raise InvalidInput(
                f'Hidden states come with the part "encoder", not with {self.stack!r}. Ask for one of the two.'
            )

    def answer(self, loaded: LoadedModel) -> AttentionRun:
        from model_zoo import running

        return running.attend(loaded, self.text, self.text_pair, self.max_tokens, self.stack, self.states)

    @property
    def together(self) -> Hashable:
        return self.max_tokens, self.stack, self.states

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, AttentionRun]]:
        from model_zoo import running

        first = questions[0]
        if first.stack != "encoder":  # a decoder's runs are not batched
            return enumerate(question.answer(loaded) for question in questions)
        pairs = [(question.text, question.text_pair) for question in questions]
        return running.attend_many(loaded, pairs, first.max_tokens, first.states)
