"""What a question to a model is: signature, check, cache key and answer in one frozen object.

Each lies in a file of its own in ``model_zoo/questions``, and other rooms may define their own: the engine knows none
of them by name. Importing a question imports no torch; answering one does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar, cast

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.types import READS, STACKS, VALUES, TargetAnswer, Value

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel as LoadedModel
else:
    LoadedModel = Any  # questions are made and sent where no torch is; only their annotations name it

Result = TypeVar("Result")
Piece = TypeVar("Piece")

Lease = Callable[[str], "AbstractContextManager[LoadedModel]"]
"""Gives the model of a name for the length of a with block; raises ModelZooError where it cannot be had."""

LARGEST_TOP_K = 1000

OWN_BEST = TargetAnswer()
"""The model's own best at the first mask."""


class Question(Generic[Result]):
    """A question to one ``model``; a subclass is a frozen dataclass whose fields are all that the answer depends on.

    Fields and results are plain data and numpy arrays, hashable and picklable. Fields of one name mean the same in all
    questions, and are checked here when one is made (``_USUAL``, and the texts); a subclass checks its others in
    ``check``. It defines ``answer``, or ``answer_all`` where many are answered together.
    """

    __slots__ = ()

    model: str

    remembered: ClassVar[bool] = True
    """Whether the engine keeps the answer. A question that says False says why."""
    of_loaded: ClassVar[bool] = False
    """Whether the loaded model holds the answer: the engine that has the model need not keep it, who asks from
    elsewhere does.
    """
    runs_model: ClassVar[bool] = True
    """Whether answering passes a text through the network, so that it waits for its turn."""
    needs: ClassVar[Literal["mlm", "lm", "nsp"] | None] = None
    """The head that a model needs to answer it, by the names of ``ModelInfo``."""
    full_precision: ClassVar[bool] = False
    """Whether the answer is made of differences too small for half precision: it comes from weights in float32,
    whatever others are computed with.
    """
    example_fields: ClassVar[Mapping[str, Any]] = {}
    """The fields of its ``example`` beside ``model``."""

    def __post_init__(self) -> None:
        question = cast(Any, self)
        for field in fields(question):
            if field.name in _USUAL:
                normalize(self, **{field.name: _USUAL[field.name](getattr(self, field.name))})
        if hasattr(question, "text"):
            texts.check_pair(question.text, getattr(question, "text_pair", None))
        if hasattr(question, "value") and hasattr(question, "other"):
            normalize(self, other=_check_other(question.value, question.other))
        self.check()

    def check(self) -> None:
        """Brings what only this question has into one form (``normalize``), so that equal questions are equal objects.
        Raises InvalidInput for what can be refused without a model.
        """

    def answer(self, loaded: LoadedModel) -> Result:
        """The answer of a loaded model. Raises what the question's docstring says."""
        ((_, answer),) = type(self).answer_all(loaded, [self])
        return answer

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, Result]]:
        """The answers to several of one kind that agree in ``together``: (place of the question, answer) as they are
        done. An InvalidInput that is about one of them says so by its ``which``.
        """
        for place, question in enumerate(questions):
            yield place, question.answer(loaded)

    @classmethod
    def answers_together(cls) -> bool:
        """Whether several are answered in less time than one after the other."""
        return cls.answer_all.__func__ is not Question.answer_all.__func__  # type: ignore[attr-defined]

    @property
    def n_characters(self) -> int:
        """How long its texts are: questions of similar length are answered together."""
        values = (getattr(self, field.name) for field in fields(cast(Any, self)) if field.name != "model")
        return sum(len(value) for value in values if isinstance(value, str))

    @property
    def together(self) -> Hashable:
        """What questions of one kind to one model must agree in to be answered together."""
        return ()

    def resolved(self, loaded: LoadedModel) -> Self:  # noqa: ARG002
        """The same question with what was left to the model filled in: what the answer is remembered by."""
        return self

    def extra_bytes(self, loaded: LoadedModel) -> int:  # noqa: ARG002
        """Memory that answering takes beyond the model's own, where that is as large as a model: a copy that learns."""
        return 0

    @classmethod
    def example(cls, model: str) -> Self:
        """A small one that every model with the head that it ``needs`` answers; tests ask it."""
        return cast(Any, cls)(model, **cls.example_fields)


class Streamed(Question[Result], Generic[Piece, Result]):
    """A question that is answered part by part: a subclass defines ``parts``.

    Its answer as a whole, and what is remembered once all parts were read, is by default the tuple of them.
    """

    __slots__ = ()

    def parts(self, loaded: LoadedModel) -> Iterator[Piece]:
        raise NotImplementedError

    def combine(self, parts: Sequence[Piece]) -> Result:
        """The answer that the parts make."""
        return cast(Result, tuple(parts))

    def replay(self, result: Result) -> Iterable[Piece]:
        """What is streamed to who asks for an answer that is remembered."""
        return cast(Iterable[Piece], result)

    def answer(self, loaded: LoadedModel) -> Result:
        return self.combine(list(self.parts(loaded)))


class Comparison(Generic[Piece]):
    """A question to several ``models`` at once, answered part by part; a frozen dataclass, and never remembered."""

    __slots__ = ()

    models: Sequence[str]

    def parts(self, lease: Lease) -> Iterator[Piece]:
        """The parts as they are done; takes the models by itself, since one that cannot be had leaves the others."""
        raise NotImplementedError

    @classmethod
    def example(cls, *models: str) -> Self:
        """A small one; tests ask it."""
        raise NotImplementedError


def normalize(question: object, **fields: Any) -> None:
    """Bring fields of a frozen question into one form while it is being made."""
    for name, value in fields.items():
        object.__setattr__(question, name, value)


def check_top_k(top_k: int) -> int:
    """Raises InvalidInput for a number of predictions that cannot be shown."""
    if not 1 <= top_k <= LARGEST_TOP_K:
        raise InvalidInput(f"{top_k} predictions cannot be shown. Choose 1 to {LARGEST_TOP_K}.")
    return top_k


def check_choice(value: str, choices: Sequence[str], noun: str) -> str:
    """Raises InvalidInput for a word that is none of the choices; ``noun`` says of what there is none such."""
    if value not in choices:
        raise InvalidInput(f"There is no {noun.format(repr(value))}. Choose {', '.join(choices)}.")
    return value


def check_layers(layers: Sequence[int]) -> tuple[int, ...]:
    """Layers whose hidden states are wanted; whether they exist is known when the model has run."""
    if not layers:
        raise InvalidInput("No layer is chosen. Choose at least one, or leave the choice out for all of them.")
    return tuple(layers)


def check_lengths(lengths: Sequence[int], repeats: int = 1) -> None:
    """Raises InvalidInput for texts or rounds of which there is nothing to measure."""
    if repeats < 1 or not lengths or min(lengths) < 1:
        raise InvalidInput("Cost is measured on texts of at least one token, at least once. Choose higher numbers.")


def _check_other(value: Value, other: str | tuple[str, str | None] | None) -> tuple[str, str | None] | None:
    """The other text or pair whose run's values are put in. Raises InvalidInput for a value without it, for it with
    another value, and for what no tokenizer reads.
    """
    if (value == "other") != (other is not None):
        raise InvalidInput(
            "Another run's values need another text, and another text is used for nothing else. Give both."
        )
    if other is None:
        return None
    return texts.check_pair(*((other, None) if isinstance(other, str) else other), "The other text")


def _check_aim(aim: TargetAnswer | None) -> TargetAnswer:
    aim = aim or OWN_BEST
    check_choice(aim.reads, READS, "answer of the kind {}")
    return aim


_USUAL: Mapping[str, Callable[[Any], Any]] = {
    "aim": _check_aim,
    "attention": tuple,
    "changes": tuple,
    "edges": tuple,
    "feed_forward": tuple,
    "heads": tuple,
    "ids": tuple,
    "masked": frozenset,
    "stack": partial(check_choice, choices=STACKS, noun="part {} of a model"),
    "targets": tuple,
    "top_k": check_top_k,
    "value": partial(check_choice, choices=VALUES, noun="replacement value {}"),
}
"""Checks of the fields that several questions have, and the one form that they are brought into, by name."""
