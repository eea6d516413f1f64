"""Which noun a pronoun looks at, in every head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, NamedTuple

import numpy as np

from analysis.corpus.coreference import PronounAttention
from analysis.corpus.looks import attention_to_words
from analysis.corpus.placing import own_tokens
from analysis.corpus.sentences import Sentence
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Streamed
from model_zoo.types import AttentionRun, FloatArray
from reading.sentences import plain_words

_AT_ONCE = 32  # sentences between two parts of an answer


@dataclass(frozen=True, slots=True)
class Refer(Streamed[PronounAttention, PronounAttention]):
    """Attention from pronouns to what they mean and to a distractor, in every head: of ``sentences`` with
    ``coreference``, some hundred at most.

    The parts are of some sentences each, shortest first, and join to the answer about all of them
    (``PronounAttention.joined``). Raises InvalidInput for a sentence without a pronoun, NotSupported for models without
    attention.
    """

    model: str
    sentences: tuple[Sentence, ...]

    remembered: ClassVar[bool] = False  # a job asks about each part once

    def check(self) -> None:
        if not self.sentences:
            raise InvalidInput("There are no sentences. Give at least one.")
        for place, sentence in enumerate(self.sentences):
            if sentence.coreference is None or not all(0 <= word < len(sentence) for word in sentence.coreference):
                raise InvalidInput(
                    "A sentence has no pronoun, antecedent and distractor. Give the places of three words.", which=place
                )

    def parts(self, loaded: LoadedModel) -> Iterator[PronounAttention]:
        from model_zoo.running import attend_many

        runs = attend_many(loaded, [(sentence.text, None) for sentence in self.sentences])
        rows = (
            (tuple(layer.n_heads for layer in run.layers), _attention_from_pronoun(run, self.sentences[place]))
            for place, run in runs
        )
        while some := list(islice(rows, _AT_ONCE)):
            yield _compare(some[0][0], [row for _, row in some])

    def combine(self, parts: Sequence[PronounAttention]) -> PronounAttention:
        return PronounAttention.joined(parts)

    @classmethod
    def example(cls, model: str) -> Refer:
        text = "The cat saw the lamp when it woke."
        spans = tuple(plain_words(text))
        nothing = ("_",) * len(spans)
        return cls(model, (Sentence(0, text, spans, nothing, nothing, (-2,) * len(spans), coreference=(6, 1, 4)),))


class _PronounRow(NamedTuple):
    """Attention from a pronoun, whose first token is ``token``, to every word: (heads of all layers, words). None if
    one of the three words has no tokens of its own.
    """

    sentence: Sentence
    token: int = 0
    shares: FloatArray | None = None


def _attention_from_pronoun(run: AttentionRun, sentence: Sentence) -> _PronounRow:
    assert sentence.coreference is not None
    if not own_tokens(run.encoding, sentence.spans)[list(sentence.coreference)].all():
        return _PronounRow(sentence)
    pronoun, every = sentence.coreference[0], slice(None)
    layers = [attention_to_words(run, sentence, pronoun, layer, every) for layer in range(run.n_layers)]
    known = [layer for layer in layers if layer is not None]  # all of them: the pronoun has a token
    return _PronounRow(sentence, known[0][0], np.concatenate([shares for _, shares in known]))


def _compare(n_heads: tuple[int, ...], rows: Sequence[_PronounRow]) -> PronounAttention:
    scored = [row for row in rows if row.shares is not None]
    shape = len(scored), sum(n_heads)
    antecedent, distractor = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
    strongest = np.zeros(shape, dtype=bool)
    for place, (sentence, _, shares) in enumerate(scored):
        assert sentence.coreference is not None
        assert shares is not None
        pronoun, right, wrong = sentence.coreference
        antecedent[place], distractor[place] = shares[:, right], shares[:, wrong]
        others = np.delete(shares, (pronoun, right), axis=1)
        strongest[place] = antecedent[place] > others.max(axis=1, initial=0.0)
    return PronounAttention(
        n_heads,
        np.array([row.sentence.number for row in scored], dtype=np.int64),
        np.array([row.token for row in scored], dtype=np.int64),
        antecedent,
        distractor,
        strongest,
        np.array([row.sentence.number for row in rows if row.shares is None], dtype=np.int64),
    )
