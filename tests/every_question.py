"""Every question that the packages define, found in their files, and one of each that models with its head answer."""

import dataclasses
import pkgutil
from contextlib import suppress
from typing import Any, Literal, get_args, get_origin, get_type_hints

from checkpoints import FAMILIES

import evidence.questions
from model_zoo import DEFAULT_MODEL, Engine, questions
from model_zoo.errors import InvalidInput
from model_zoo.question import Comparison
from model_zoo.questions import questions_in
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, Edge, Reads, TargetAnswer
from training.measure_quality import MeasureQuality

MODULES = [
    file.name
    for package in (questions, evidence.questions)
    for file in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
]
QUESTIONS = [*questions_in(questions), *questions_in(evidence.questions), MeasureQuality]


def example(kind: type[Any], causal: str) -> Any:
    """A question to the default model, or to the ``causal`` one where a head for next tokens is needed."""
    if issubclass(kind, Comparison):
        return kind.example(DEFAULT_MODEL)
    return kind.example(causal if kind.needs == "lm" else DEFAULT_MODEL)


SUBJECTS = [*{family.model_type: name for name, family in reversed(FAMILIES.items())}.values(), "embedded/bilstm"]
"""A tiny checkpoint of each family, and the model without attention."""


def varied(model: str) -> list[Any]:
    """Every question to a model, also with each choice that one of its fields leaves, with each kind of answer that it
    can be about, and with every kind of change.
    """
    values: list[Any] = []
    for kind in QUESTIONS:
        usual = kind.example(model)
        if getattr(usual, "model", model) != model:  # it is about one model alone
            continue
        values.append(usual)
        names = {field.name for field in dataclasses.fields(kind)}
        for name, hint in get_type_hints(kind).items():
            literals = [literal for literal in (hint, *get_args(hint)) if get_origin(literal) is Literal]
            for choice in (choice for literal in literals for choice in get_args(literal) if name in names):
                with suppress(InvalidInput):  # it goes with other fields
                    values.append(dataclasses.replace(usual, **{name: choice}))
        if "aim" in names:
            pairs = {"next sentence": "It slept."}
            for reads in sorted(set(get_args(Reads)) - {"mask"}):
                with suppress(InvalidInput):  # it is about tokens alone
                    aim = TargetAnswer(reads)
                    values.append(dataclasses.replace(usual, aim=aim, masked=(), text_pair=pairs.get(reads)))
    changes = [
        Change(heads=((0, 0),), positions=(1,)),
        Change(attention=(0,)),
        Change(feed_forward=(0,)),
        Change(edges=(Edge(1, 2),)),
        Change(hidden=(1,), heads=((1, 1),)),
    ]
    for reads, text, other in (("mask", "The [MASK] sat.", "The [MASK] slept."), ("next token", "A cat", "The dog")):
        for change in changes:
            put_in = [("zero", None), ("mean", None), ("other", other)]
            values += [Intervene(model, text, (change,), aim=TargetAnswer(reads), value=v, other=o) for v, o in put_in]
        patched = Change(states=(1,), positions=(1,))
        values.append(Intervene(model, text, (patched,), aim=TargetAnswer(reads), value="other", other=other))
    return list(dict.fromkeys(values))


def ask(engine: Engine, question: Any) -> Any:
    return tuple(engine.stream(question)) if isinstance(question, Comparison) else engine.ask(question)
