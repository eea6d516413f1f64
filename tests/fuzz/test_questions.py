"""Every question there is, made of anything: an answer, or one of the project's own errors."""

import dataclasses
from typing import Any, cast

import numpy as np
import pytest
from fuzzing import A_QUESTION, TEXTS, one_sentence, tries
from hypothesis import strategies as st
from strategies import TYPED

from analysis.corpus.pattern import KINDS, Kind, Pattern
from analysis.corpus.sentences import Sentence
from evidence.questions.look import Look
from model_zoo import questions
from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.question import Comparison
from model_zoo.questions import questions_in
from model_zoo.questions.describe_model import DescribeModel
from model_zoo.questions.explain_refusal import ExplainRefusal
from model_zoo.questions.read_projections import ReadProjections
from model_zoo.questions.read_vocabulary import ReadVocabulary
from model_zoo.types import (
    CONTRIBUTION_MEASURES,
    MEASURES,
    METHODS,
    READS,
    SCHEMES,
    STACKS,
    VALUES,
    Change,
    Edge,
    FittedLens,
    TargetAnswer,
)
from reading.sentences import plain_words

QUESTIONS = [*questions_in(questions), Look]

# What asks for a model, or for one of a few words besides.
FEW = {DescribeModel, ExplainRefusal, ReadProjections, ReadVocabulary}

_TEXT = TEXTS | TYPED
_NUMBERS = st.integers(-2, 12) | st.sampled_from([2**31, -(2**63)])
_MANY = st.lists(_NUMBERS, max_size=3).map(tuple)
_ANSWER = st.none() | _NUMBERS | _TEXT
_EDGE = st.builds(Edge, _NUMBERS, _NUMBERS, st.none() | _NUMBERS, st.none() | _NUMBERS)
_EDGES = st.lists(_EDGE, max_size=2).map(tuple)
_HEADS = st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=2).map(tuple)
_CHANGES = st.builds(
    Change,
    heads=_HEADS,
    attention=_MANY,
    feed_forward=_MANY,
    states=_MANY,
    positions=st.none() | _MANY,
    edges=_EDGES,
    hidden=_MANY,
)


def _sentence(text: str, tags: list[str]) -> Sentence:
    spans = tuple(plain_words(text))
    labels = tuple(tags[place % len(tags)] for place in range(len(spans)))
    return Sentence(len(text), text, spans, labels, labels, tuple(range(-2, len(spans) - 2)))


def _pattern(made: tuple[Kind, str]) -> Pattern:
    try:
        return Pattern.parsed(*made)
    except InvalidInput as error:
        one_sentence(str(error))
        return Pattern("word", ("the",))


_PATTERN = st.tuples(st.sampled_from(KINDS), _TEXT | st.sampled_from(["X", "the", "[SEP]", ",", "##s"])).map(_pattern)
_TAGS = st.lists(st.sampled_from(["X", "_", "nsubj"]) | _TEXT, min_size=1, max_size=3)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "sentences": st.lists(st.builds(_sentence, _TEXT, _TAGS), max_size=3).map(tuple),
    "query": _PATTERN,
    "key": _PATTERN,
    "joined": st.booleans(),
    "most": _NUMBERS,
    "text": _TEXT,
    "a": _TEXT,
    "b": _TEXT,
    "text_pair": st.none() | _TEXT,
    "max_tokens": st.none() | _NUMBERS,
    "stack": st.sampled_from([*STACKS, "nonsense"]),
    "states": st.booleans() | _MANY,
    "layers": st.none() | _MANY,
    "at": st.lists(
        st.sampled_from(["*", "layer.*.mlp.out", "layer.1.attention.context", "final", "nonsense"]), max_size=2
    ),
    "before": st.tuples(_TEXT, _MANY),
    "after": st.tuples(_TEXT, _MANY),
    "top_k": _NUMBERS,
    "masked": _MANY,
    "targets": st.lists(_TEXT | _NUMBERS, max_size=2).map(tuple),
    "positions": _MANY,
    "ids": _MANY,
    "fills": st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=2).map(tuple),
    "scheme": st.none() | st.sampled_from([*SCHEMES, "nonsense"]),
    "what": st.sampled_from(["mlm", "nsp"]),
    "lengths": st.lists(st.integers(-1, 8), max_size=2).map(tuple),
    "repeats": st.integers(-1, 1),
    "layer": _NUMBERS,
    "head": _NUMBERS,
    "heads": _HEADS,
    "attention": _MANY,
    "feed_forward": _MANY,
    "edges": _EDGES,
    "without": st.sampled_from(["", "future", "positions", "nonsense"]),
    "token": _NUMBERS,
    "position": _NUMBERS,
    "rate": st.floats(-1, 11) | st.sampled_from([float("nan"), float("inf")]),
    "n": _NUMBERS,
    "aim": st.builds(TargetAnswer, st.sampled_from([*READS, "nonsense"]), st.none() | _NUMBERS, _ANSWER, _ANSWER),
    "changes": st.lists(_CHANGES, max_size=3).map(tuple),
    "value": st.sampled_from([*VALUES, "nonsense"]),
    "other": st.none() | st.tuples(_TEXT, st.none() | _TEXT),
    "method": st.sampled_from([*METHODS, "nonsense"]),
    "measure": st.sampled_from([*MEASURES, *CONTRIBUTION_MEASURES, "nonsense"]),
    "fitted": st.sampled_from([None, FittedLens.from_changes("test/model", "r", 1, np.zeros((2, 5, 4)), np.zeros(4))]),
    "steps": st.integers(-1, 3),
}


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_every_field_of_a_question_is_made(kind: type[Any]) -> None:
    assert {field.name for field in dataclasses.fields(kind)} - {"model", "models"} <= set(FIELDS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_any_question_is_answered_or_refused_with_a_sentence(kind, engine, checkpoint, bilstm) -> None:
    required, optional = {}, {}
    for field in dataclasses.fields(kind):
        if field.name not in ("model", "models"):
            missing = field.default is field.default_factory is dataclasses.MISSING
            (required if missing else optional)[field.name] = FIELDS[field.name]
    models = st.sampled_from([str(checkpoint("bert")), str(checkpoint("gpt2")), bilstm])

    def check(made: tuple[str, dict[str, Any]]) -> None:
        model, chosen = made
        try:
            if issubclass(kind, Comparison):
                list(engine.stream(cast(Any, kind((model,), **chosen))))
            else:
                engine.ask(kind(model, **chosen))
        except ModelZooError as error:
            one_sentence(str(error))

    made = st.tuples(models, st.fixed_dictionaries(required, optional=optional))
    tries(A_QUESTION, made, check, few=kind in FEW)
