"""Whether one sentence follows another, as far as a model was trained to tell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo import text as texts
from model_zoo.question import LoadedModel, Question
from model_zoo.types import SentenceScore

# Pairs that are tokenized, sorted by length and run before the next ones are looked at.
_WINDOW = 256


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
        import torch

        from model_zoo.running import batches
        from model_zoo.sentence import refuse_without_head

        refuse_without_head(loaded)
        kind, head = loaded.info.nsp, loaded.model.get_submodule(loaded.family.sentence_head)
        assert kind is not None
        for first in range(0, len(questions), _WINDOW):
            window = range(first, min(first + _WINDOW, len(questions)))
            encodings = [loaded.encode(questions[index].a, questions[index].b) for index in window]
            for batch in batches(loaded, encodings):
                with torch.inference_mode():
                    pooled = loaded.model.base_model(**loaded.inputs([encodings[place] for place in batch]))[1]
                    logits = head(pooled).float()
                    p_next = logits.softmax(dim=-1)[:, 0].tolist()
                for place, p, (yes, no) in zip(batch, p_next, logits.tolist(), strict=True):
                    yield window[place], SentenceScore(p, (yes, no), kind, encodings[place], loaded.info)
