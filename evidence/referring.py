"""A loaded model run over sentences with a pronoun: what each head's attention prefers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from analysis.corpus.coreference import PronounAttention
from analysis.corpus.looks import attention_to_words
from analysis.corpus.placing import own_tokens
from analysis.corpus.sentences import Sentence
from model_zoo.loading import LoadedModel
from model_zoo.running import attend_many
from model_zoo.types import AttentionRun, FloatArray

_AT_ONCE = 32  # sentences between two parts of an answer


def refer(loaded: LoadedModel, sentences: Sequence[Sentence]) -> Iterator[PronounAttention]:
    """Some sentences at a time, shortest first."""
    ready: list[_Looked] = []
    heads: tuple[int, ...] = ()
    for place, run in attend_many(loaded, [(sentence.text, None) for sentence in sentences]):
        heads = tuple(layer.n_heads for layer in run.layers)
        ready.append(_looked(run, sentences[place]))
        if len(ready) == _AT_ONCE:
            yield _referred(heads, ready)
            ready = []
    if ready:
        yield _referred(heads, ready)


class _Looked(NamedTuple):
    """Attention from a pronoun, whose first token is ``token``, to every word: (heads of all layers, words). None where
    one of the three words has no tokens of its own.
    """

    sentence: Sentence
    token: int = 0
    shares: FloatArray | None = None


def _looked(run: AttentionRun, sentence: Sentence) -> _Looked:
    assert sentence.coreference is not None
    if not own_tokens(run.encoding, sentence.spans)[list(sentence.coreference)].all():
        return _Looked(sentence)
    pronoun, every = sentence.coreference[0], slice(None)
    layers = [attention_to_words(run, sentence, pronoun, layer, every) for layer in range(run.n_layers)]
    found = [one for one in layers if one is not None]  # all of them: the pronoun has a token
    return _Looked(sentence, found[0][0], np.concatenate([given for _, given in found]))


def _referred(heads: tuple[int, ...], ready: Sequence[_Looked]) -> PronounAttention:
    found = [one for one in ready if one.shares is not None]
    shape = len(found), sum(heads)
    antecedent, distractor = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
    strongest = np.zeros(shape, dtype=bool)
    for row, (sentence, _, shares) in enumerate(found):
        assert sentence.coreference is not None
        assert shares is not None
        pronoun, right, wrong = sentence.coreference
        antecedent[row], distractor[row] = shares[:, right], shares[:, wrong]
        others = np.delete(shares, (pronoun, right), axis=1)
        strongest[row] = antecedent[row] > others.max(axis=1, initial=0.0)
    return PronounAttention(
        heads,
        np.array([one.sentence.number for one in found], dtype=np.int64),
        np.array([one.token for one in found], dtype=np.int64),
        antecedent,
        distractor,
        strongest,
        np.array([one.sentence.number for one in ready if one.shares is None], dtype=np.int64),
    )
