"""Every question that the packages define, found in their files, and one of each that models with its head answer."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import evidence.questions
from model_zoo import DEFAULT_MODEL, Engine, questions
from model_zoo.question import Comparison, Question
from training import measure_quality


def found_in(module: Any) -> list[type[Any]]:
    """The questions that a module defines."""
    return [
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Question | Comparison) and one.__module__ == module.__name__
    ]


FILES = sorted(one.name for one in pkgutil.iter_modules(questions.__path__))
OF_EVIDENCE = sorted(one.name for one in pkgutil.iter_modules(evidence.questions.__path__))
MODULES = [
    *(importlib.import_module(f"model_zoo.questions.{name}") for name in FILES),
    *(importlib.import_module(f"evidence.questions.{name}") for name in OF_EVIDENCE),
]
QUESTIONS = [kind for module in [*MODULES, measure_quality] for kind in found_in(module)]  # one of another room, too


def example(kind: type[Any], causal: str) -> Any:
    """A question to the default model, or to the ``causal`` one where a head for next tokens is needed."""
    if issubclass(kind, Comparison):
        return kind.example(DEFAULT_MODEL)
    return kind.example(causal if kind.needs == "lm" else DEFAULT_MODEL)


def asked(engine: Engine, question: Any) -> Any:
    return tuple(engine.stream(question)) if isinstance(question, Comparison) else engine.ask(question)
