"""The built-in scored pairs as vectors of any model: what all vectors share, and how cosines agree with the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from analysis.sentence_vectors import Measured, SentenceVectors, measure, sentence_vectors
from model_zoo.engine_interface import EngineInterface
from model_zoo.types import DType
from training.finetuning.data import Scored, Split
from training.finetuning.sets import SETS


def pairs(split: Split) -> list[Scored]:
    """Those of a split of the built-in set."""
    return [item for item in SETS["similarity"].build().split(split) if isinstance(item, Scored)]


def sentences(of: Sequence[Scored]) -> list[str]:
    """The sentences of pairs, each once."""
    return list(dict.fromkeys(text for pair in of for text in (pair.text, pair.pair)))


def vectors(engine: EngineInterface, model: str, texts: Sequence[str], name: str = "Sentence {}") -> SentenceVectors:
    """Texts as vectors of a model, by every pooling and layer; ``name`` as for ``sentence_vectors``."""
    info = engine.info(model)
    states = engine.iter_hidden_states(model, texts)
    return sentence_vectors(states, len(texts), name, info.pooling, cast(DType, info.dtype))


def measured(engine: EngineInterface, model: str) -> Measured:
    """What the sentences of the training pairs share, and agreement with the scores of the test pairs."""
    train, test = sentences(pairs("train")), sentences(pairs("test"))
    places = {text: place for place, text in enumerate(test)}
    return measure(
        vectors(engine, model, train),
        vectors(engine, model, test),
        [(places[pair.text], places[pair.pair]) for pair in pairs("test")],
        [pair.score for pair in pairs("test")],
        [pair.cluster for pair in pairs("test")],
    )
