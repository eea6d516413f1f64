"""An engine whose answers are given while activations are edited, and the question that stands for it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from model_zoo.engine_methods import EngineMethods
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.question import Comparison, LoadedModel, Question, Streamed
from model_zoo.types.recording import Edit, Edits

Result = TypeVar("Result")
Piece = TypeVar("Piece")

_at_work: ContextVar[bool] = ContextVar("whether activations of this thread are edited", default=False)


@dataclass(frozen=True, eq=False)
class Edited(Question[Result]):
    """A question, or the parts of its answer, while activations are edited. It is never remembered: functions have no
    equals.
    """

    question: Question[Any]
    edits: Edits
    in_parts: bool = False

    remembered = False

    @property
    def model(self) -> str:  # type: ignore[override]
        return self.question.model

    @property
    def full_precision(self) -> bool:  # type: ignore[override]
        return self.question.full_precision

    def extra_bytes(self, loaded: LoadedModel) -> int:
        return self.question.extra_bytes(loaded)

    def answer(self, loaded: LoadedModel) -> Result:
        from model_zoo.capture import setting
        from model_zoo.interventions.activations import editing_places

        forgetful = loaded.without_memory()
        with setting(_at_work, True), editing_places(forgetful, self.edits):
            if self.in_parts:
                return tuple(cast(Any, self.question).parts(forgetful))  # type: ignore[return-value]
            return self.question.answer(forgetful)


def refuse_in_edits() -> None:
    """Raises InvalidInput in an edit: what it asked would be edited, too, and wait for its turn behind itself."""
    if _at_work.get():
        raise InvalidInput("An edit asks the engine. Ask before, and let the edit use the result.")


class EditedEngine(EngineMethods):
    """The engine while activations are edited: asked in the same words. See ``Engine.edit``."""

    def __init__(self, engine: EngineMethods, edits: Mapping[str, Edit]) -> None:
        if not edits:
            raise InvalidInput("There is nothing to edit. Name a place, such as layer.2.mlp.out.")
        self._engine, self._edits = engine, tuple(edits.items())

    def edit(self, edits: Mapping[str, Edit]) -> EditedEngine:
        """Further edits, of what these give."""
        return EditedEngine(self, edits)

    def ask(self, question: Question[Result]) -> Result:
        return self._engine.ask(Edited(question, self._edits))

    def ask_all(self, questions: Sequence[Question[Result]]) -> list[Result]:
        return [self.ask(question) for question in questions]

    def stream(self, question: Streamed[Piece, Any] | Comparison[Piece]) -> Generator[Piece, None, None]:
        if isinstance(question, Comparison):
            raise NotSupported("A comparison of models is not edited. Ask for each of them by itself.")
        yield from self._engine.ask(Edited[tuple[Piece, ...]](question, self._edits, in_parts=True))

    def stream_all(
        self,
        questions: Sequence[Question[Result]],
        *,
        remember: bool = True,  # noqa: ARG002 (nothing is)
    ) -> Generator[tuple[int, Result], None, None]:
        for place, question in enumerate(questions):
            yield place, self.ask(question)
