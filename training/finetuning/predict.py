"""A question of this room's own: what a tuned model answers for some texts. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from model_zoo import text as texts
from model_zoo.errors import NotSupported
from model_zoo.question import Question
from model_zoo.types import Encoding, TunedFor
from training.finetuning.results import Prediction

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel
    from training.finetuning.tasks.base import Span, Task

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Predict(Question[tuple[Prediction, ...]]):
    """A prediction for each text or pair, of the kind that ``model`` was tuned for; for answering a text is a question
    and the second text its passage. ``words`` are the characters of each text's words where they are known (tagging).

    Raises NotSupported for a model that has no head for a task, InvalidInput for a text that cannot be read.
    """

    model: str
    texts: tuple[tuple[str, str | None], ...]
    words: tuple[tuple[tuple[int, int], ...] | None, ...] | None = None

    def __post_init__(self) -> None:
        for number, (text, pair) in enumerate(self.texts, start=1):
            texts.check_pair(text, pair, f"Text {number}" if len(self.texts) > 1 and pair is None else "")

    @property
    def n_characters(self) -> int:
        return sum(len(text) + len(pair or "") for text, pair in self.texts)

    def answer(self, loaded: LoadedModel) -> tuple[Prediction, ...]:
        words: Sequence[Sequence[Span] | None] = self.words or [None] * len(self.texts)

        def read(task: Task, output: Any, batch: Sequence[int], encodings: Sequence[Encoding]) -> Sequence[Prediction]:
            return task.read(output, encodings, [words[place] for place in batch], loaded.info.labels)

        return _answers(loaded, self.texts, read)

    @classmethod
    def example(cls, model: str) -> Predict:
        return cls(model, (("a b c", None),))


@dataclass(frozen=True, slots=True)
class SoftScores(Question[tuple[tuple[float, ...], ...]]):
    """The scores (logits) of a tuned model for each text or pair: what a student learns from a teacher."""

    model: str
    texts: tuple[tuple[str, str | None], ...]

    def answer(self, loaded: LoadedModel) -> tuple[tuple[float, ...], ...]:
        from training.finetuning.tasks.base import rows_of

        return _answers(
            loaded, self.texts, lambda task, output, *_: [tuple(row) for row in rows_of(task.soft_scores(output))]
        )

    @classmethod
    def example(cls, model: str) -> SoftScores:
        return cls(model, (("a b c", None),))


def _answers(
    loaded: LoadedModel,
    texts: Sequence[tuple[str, str | None]],
    read: Callable[[Task, Any, Sequence[int], Sequence[Encoding]], Sequence[Answer]],
) -> tuple[Answer, ...]:
    """What ``read`` makes of the network's output for each text or pair, in their order.

    It is given the task, the output for a batch, the places of the batch's texts, and their encodings.
    """
    import torch

    from model_zoo.running import batches
    from training.finetuning.tasks import TASKS

    kind = refuse_untuned(loaded)
    encodings = [loaded.encode(text, pair) for text, pair in texts]
    found: dict[int, Answer] = {}
    with torch.inference_mode():
        for batch in batches(encodings, loaded.family.pads_for(kind)):
            of_batch = [encodings[place] for place in batch]
            output = loaded.model(**loaded.inputs(of_batch))
            found |= dict(zip(batch, read(TASKS[kind], output, batch, of_batch), strict=True))
    return tuple(found[place] for place in range(len(encodings)))


def refuse_untuned(loaded: LoadedModel) -> TunedFor:
    """What a model was tuned for. Raises NotSupported for one that was not."""
    kind = loaded.info.tuned_for
    if kind is None:
        raise NotSupported(
            f"{loaded.info.id} has no head for a task, so it gives no labels. Train one on the page “Train”, or choose "
            "a checkpoint that was tuned for a task."
        )
    return kind
