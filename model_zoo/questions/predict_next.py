"""What a causal language model predicts after a text."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo.question import LoadedModel, Question
from model_zoo.types import MaskPrediction


@dataclass(frozen=True, slots=True)
class PredictNext(Question[MaskPrediction]):
    """What a causal language model (GPT-2) predicts after a text, best first; for a list of texts, a list of these.

    ``targets`` are as in ``fill_mask``; a word follows the text after a space. Raises NotSupported for a model that was
    not trained to predict the next token, InvalidInput for a text longer than the model reads.
    """

    needs = "lm"
    example_fields: ClassVar = {"text": "The cat", "top_k": 3, "targets": (7,)}

    model: str
    text: str
    top_k: int = 10
    targets: Sequence[str | int] = ()

    @property
    def together(self) -> Hashable:
        return self.top_k, self.targets

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, MaskPrediction]]:
        from model_zoo import causal
        from model_zoo.prediction_heads import predictions, slot_at

        causal.refuse_without_head(loaded)
        first = questions[0]
        encodings = [causal.encode_uncut(loaded, question.text) for question in questions]
        slots = [[slot_at(loaded, tokens, len(tokens), len(tokens) - 1, first.targets)] for tokens in encodings]
        for place, (answer,) in predictions(loaded, encodings, slots, first.top_k):
            yield place, answer
