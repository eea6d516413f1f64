"""Which noun a pronoun looks at, in every head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.corpus.sentences import Sentence, plain_words
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Streamed
from model_zoo.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Referred:
    """Attention from the pronouns of sentences, those that could be placed among the model's tokens.

    ``numbers`` (sentences,) are theirs, ``tokens`` (sentences,) the places of their pronouns' first tokens.
    ``antecedent`` and ``distractor`` (sentences, heads of all layers) are the shares of a pronoun's attention that
    these words get, summed over their pieces and averaged over the pronoun's; ``strongest`` says whether the antecedent
    has most of all words, special tokens and the pronoun left out.
    ``heads`` are the heads of each layer. ``left_out`` are the numbers of sentences one of whose three words has no
    tokens of its own: the tokenizer cuts it off, drops it or joins it to a neighbour.
    """

    heads: tuple[int, ...]
    numbers: IntArray = field(repr=False)
    tokens: IntArray = field(repr=False)
    antecedent: FloatArray = field(repr=False)
    distractor: FloatArray = field(repr=False)
    strongest: BoolArray = field(repr=False)
    left_out: IntArray

    @classmethod
    def joined(cls, parts: Sequence[Referred]) -> Referred:
        """All parts, of one model, in the order of their sentences."""
        whole = [part for part in parts if len(part.numbers)]
        left_out = np.sort(np.concatenate([part.left_out for part in parts]))
        if not whole:
            return replace(parts[0], left_out=left_out)
        numbers = np.concatenate([part.numbers for part in whole])
        order = np.argsort(numbers, kind="stable")
        return cls(
            heads=whole[0].heads,
            numbers=numbers[order],
            tokens=np.concatenate([part.tokens for part in whole])[order],
            antecedent=np.concatenate([part.antecedent for part in whole])[order],
            distractor=np.concatenate([part.distractor for part in whole])[order],
            strongest=np.concatenate([part.strongest for part in whole])[order],
            left_out=left_out,
        )


@dataclass(frozen=True, slots=True)
class Refer(Streamed[Referred, Referred]):
    """Attention from pronouns to what they mean and to a distractor, in every head: of ``sentences`` with
    ``coreference``, some hundred at most.

    The answers to parts join to that of the whole (``Referred.joined``). Raises InvalidInput for a sentence without a
    pronoun, NotSupported for models without attention.
    """

    model: str
    sentences: tuple[Sentence, ...]

    def check(self) -> None:
        if not self.sentences:
            raise InvalidInput("There are no sentences. Give at least one.")
        for place, sentence in enumerate(self.sentences):
            if sentence.coreference is None or not all(0 <= one < len(sentence) for one in sentence.coreference):
                raise InvalidInput(
                    "A sentence has no pronoun, antecedent and distractor. Give the places of three words.", which=place
                )

    def parts(self, loaded: LoadedModel) -> Iterator[Referred]:
        from evidence import referring

        return referring.refer(loaded, self.sentences)

    def whole(self, parts: Sequence[Referred]) -> Referred:
        return Referred.joined(parts)

    def again(self, whole: Referred) -> Iterable[Referred]:
        return (whole,)

    @classmethod
    def example(cls, model: str) -> Refer:
        text = "The cat saw the lamp when it woke."
        spans = tuple(plain_words(text))
        nothing = ("_",) * len(spans)
        return cls(model, (Sentence(0, text, spans, nothing, nothing, (-2,) * len(spans), coreference=(6, 1, 4)),))
