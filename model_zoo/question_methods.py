"""The methods of an engine that ask one question each, made of the question: its fields are what the method takes, its
docstring is the method's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from types import GenericAlias
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, get_args, overload

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import Comparison, Question, Streamed
from model_zoo.text import Text

P = ParamSpec("P")
Result = TypeVar("Result")
Piece = TypeVar("Piece")
Item = TypeVar("Item", contravariant=True)


class OneOrMany(Protocol[Item, P, Result]):
    """A method that answers for one text, or for a list of texts in the list's order."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a str is a sequence of str, too
        self, model: str, text: str, *args: P.args, **kwargs: P.kwargs
    ) -> Result: ...

    @overload
    def __call__(self, model: str, text: Sequence[Item], *args: P.args, **kwargs: P.kwargs) -> list[Result]: ...


def asks(question: Callable[P, Question[Result]]) -> Callable[Concatenate[Any, P], Result]:
    """A method that answers one question."""
    signature = _signature(question, lambda _, result: result)
    return _named_by_class(question, signature, lambda engine, *args, **kwargs: engine.ask(question(*args, **kwargs)))


def streams(
    question: Callable[P, Streamed[Piece, Any]] | Callable[P, Comparison[Piece]],
) -> Callable[Concatenate[Any, P], Generator[Piece, None, None]]:
    """A method that gives the answer to one question part by part."""
    signature = _signature(question, lambda piece, _: GenericAlias(Generator, (piece, None, None)))
    return _named_by_class(
        question, signature, lambda engine, *args, **kwargs: engine.stream(question(*args, **kwargs))
    )


def asks_texts(question: Callable[Concatenate[str, str, P], Question[Result]]) -> OneOrMany[str, P, Result]:
    """A method that answers the question for one text or for a list of them."""
    return _asks_one_or_many(question, str | Sequence[str])


def asks_texts_and_pairs(
    question: Callable[Concatenate[str, str, P], Question[Result]],
    called: str = "text",
    warn: Callable[[str, Sequence[Result]], None] | None = None,
) -> OneOrMany[Text, P, Result]:
    """As ``asks_texts``, where a list may hold pairs of texts, too; the argument is ``called`` so. ``warn`` sees the
    model and the answers.
    """
    return _asks_one_or_many(question, str | Sequence[Text], called, warn)


def _asks_one_or_many(question: Any, annotation: Any, called: str = "text", warn: Any = None) -> Any:
    signature = _signature(question, lambda _, result: result | GenericAlias(list, (result,)))
    engine, model, one_or_many, *others = signature.parameters.values()
    one_or_many = one_or_many.replace(name=called, annotation=annotation)
    signature = signature.replace(parameters=[engine, model, one_or_many, *others])

    def method(*args: Any, **kwargs: Any) -> Any:
        fields = signature.bind(*args, **kwargs).arguments
        engine, text = fields.pop("self"), fields.pop(called)
        if isinstance(text, str):
            answer = engine.ask(question(text=text, **fields))
            if warn is not None:
                warn(fields["model"], [answer])
            return answer
        if fields.get("masked"):
            raise InvalidInput("Positions to mask belong to one text. Type [MASK] into the texts of a list instead.")
        if "text_pair" not in signature.parameters:
            return engine.ask_all([question(text=listed_text, **fields) for listed_text in texts.check_texts(text)])
        pairs = texts.check_list(text, fields.pop("text_pair", None))
        answers = engine.ask_all([question(text=first, text_pair=second, **fields) for first, second in pairs])
        if warn is not None:
            warn(fields["model"], answers)
        return answers

    return _named_by_class(question, signature, method)


def _signature(question: Any, returns: Callable[[Any, Any], Any]) -> inspect.Signature:
    """That of a method with the question's fields; ``returns`` makes what it returns of the types of the question's
    parts and of its result.
    """
    of_question = get_args(question.__orig_bases__[0])  # Question[Result], Streamed[Piece, Result], Comparison[Piece]
    engine = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Signature(
        [engine, *inspect.signature(question).parameters.values()],
        return_annotation=returns(of_question[0], of_question[-1]),
    )


def _named_by_class(question: Any, signature: inspect.Signature, method: Any) -> Any:
    """The method with the question's docstring; its name is that which the class gives it."""
    method.__doc__, method.__signature__ = question.__doc__, signature
    return _Unnamed(method)


class _Unnamed:
    """Stands in a class until the class tells it its name, and leaves its place to the function that has this name."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._function.__name__, self._function.__qualname__ = name, f"{owner.__qualname__}.{name}"
        self._function.__module__ = owner.__module__
        setattr(owner, name, self._function)
