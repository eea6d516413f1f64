"""Questions to models, one per file; see ``model_zoo.question``. The code that asks a question imports its file."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from model_zoo.question import Comparison, Question


def questions_in(package: ModuleType) -> list[type[Any]]:
    """The classes of questions that the files of a package define, file by file; imports all of them."""
    modules = [import_module(file.name) for file in iter_modules(package.__path__, f"{package.__name__}.")]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Question | Comparison) and value.__module__ == module.__name__
    ]
