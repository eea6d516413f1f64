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
    return _method(question, lambda engine, made, fields: engine.ask(made(**fields)), lambda _, result: result)


def streams(
    question: Callable[P, Streamed[Piece, Any]] | Callable[P, Comparison[Piece]],
) -> Callable[Concatenate[Any, P], Generator[Piece, None, None]]:
    """A method that gives the answer to one question part by part."""
    return _method(
        question,
        lambda engine, made, fields: engine.stream(made(**fields)),
        lambda piece, _: GenericAlias(Generator, (piece, None, None)),
    )


def asks_texts(question: Callable[Concatenate[str, str, P], Question[Result]]) -> OneOrMany[str, P, Result]:
    """A method that answers the question for one text or for a list of them."""
    return _method(question, _one_or_many, _result_or_list, str | Sequence[str])


def asks_texts_and_pairs(
    question: Callable[Concatenate[str, str, P], Question[Result]], called: str = "text"
) -> OneOrMany[Text, P, Result]:
    """As ``asks_texts``, where a list may hold pairs of texts, too; the argument is ``called`` so."""
    return _method(question, _one_or_many, _result_or_list, str | Sequence[Text], called)


def _result_or_list(_: Any, result: Any) -> Any:
    return result | GenericAlias(list, (result,))


def _one_or_many(engine: Any, question: Callable[..., Any], fields: dict[str, Any]) -> Any:
    texts_ = fields.pop("text")
    if isinstance(texts_, str):
        return engine.ask(question(text=texts_, **fields))
    if fields.get("masked"):
        raise InvalidInput("Positions to mask belong to one text. Type [MASK] into the texts of a list instead.")
    if "text_pair" not in inspect.signature(question).parameters:
        return engine.ask_all([question(text=text, **fields) for text in texts.check_texts(texts_)])
    pairs = texts.check_list(texts_, fields.pop("text_pair", None))
    return engine.ask_all([question(text=text, text_pair=pair, **fields) for text, pair in pairs])


def _method(
    question: Any,
    answer: Callable[[Any, Callable[..., Any], dict[str, Any]], Any],
    returns: Callable[[Any, Any], Any],
    text: Any = None,
    called: str = "text",
) -> Any:
    """A method whose arguments are the question's fields; ``returns`` what its annotation says, given the question's
    parts and its result. It takes ``text`` where the question has one text, by the name ``called``.
    """
    parameters = list(inspect.signature(question).parameters.values())
    if text is not None:
        parameters[1] = parameters[1].replace(name=called, annotation=text)
    of_question = get_args(question.__orig_bases__[0])  # Question[Result], Streamed[Piece, Result], Comparison[Piece]
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters],
        return_annotation=returns(of_question[0], of_question[-1]),
    )

    def method(*args: Any, **kwargs: Any) -> Any:
        fields = signature.bind(*args, **kwargs).arguments
        engine = fields.pop("self")
        if called in fields:
            fields["text"] = fields.pop(called)
        return answer(engine, question, fields)

    method.__doc__ = question.__doc__
    method.__signature__ = signature  # type: ignore[attr-defined]
    return _Unnamed(method)


class _Unnamed:
    """Stands in a class until the class tells it its name, and leaves its place to the function that has this name."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._function.__name__, self._function.__qualname__ = name, f"{owner.__qualname__}.{name}"
        self._function.__module__ = owner.__module__
        setattr(owner, name, self._function)
