"""Which noun a pronoun looks at, in every head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.corpus.coreference import PronounAttention
from analysis.corpus.sentences import Sentence
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Streamed
from reading.sentences import plain_words


@dataclass(frozen=True, slots=True)
class Refer(Streamed[PronounAttention, PronounAttention]):
    """Attention from pronouns to what they mean and to a distractor, in every head: of ``sentences`` with
    ``coreference``, some hundred at most.

    The answers to parts join to that of the whole (``PronounAttention.joined``). Raises InvalidInput for a sentence
    without a pronoun, NotSupported for models without attention.
    """

    model: str
    sentences: tuple[Sentence, ...]

    remembered: ClassVar[bool] = False  # a job asks about each part once

    def check(self) -> None:
        if not self.sentences:
            raise InvalidInput("There are no sentences. Give at least one.")
        for place, sentence in enumerate(self.sentences):
            if sentence.coreference is None or not all(0 <= one < len(sentence) for one in sentence.coreference):
                raise InvalidInput(
                    "A sentence has no pronoun, antecedent and distractor. Give the places of three words.", which=place
                )

    def parts(self, loaded: LoadedModel) -> Iterator[PronounAttention]:
        from evidence import referring

        return referring.refer(loaded, self.sentences)

    def combine(self, parts: Sequence[PronounAttention]) -> PronounAttention:
        return PronounAttention.joined(parts)

    def replay(self, merged: PronounAttention) -> Iterable[PronounAttention]:
        return (merged,)

    @classmethod
    def example(cls, model: str) -> Refer:
        text = "The cat saw the lamp when it woke."
        spans = tuple(plain_words(text))
        nothing = ("_",) * len(spans)
        return cls(model, (Sentence(0, text, spans, nothing, nothing, (-2,) * len(spans), coreference=(6, 1, 4)),))
