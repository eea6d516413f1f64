"""A question to a tuned model: its predictions for some texts. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from model_zoo import text as texts
from model_zoo.errors import NotSupported
from model_zoo.question import Question
from model_zoo.types import TunedFor
from training.finetuning.results import Prediction

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel
    from training.finetuning.tasks.base import Batch, Span, Task

Answer = TypeVar("Answer")
DROPOUT: Final = 0.1
"""BERT's rate (Devlin et al. 2019). The bundled models were trained without, which would show nothing."""


@dataclass(frozen=True, slots=True)
class Predict(Question[tuple[Prediction, ...]]):
    """A prediction for each text or pair, of the kind that ``model`` was tuned for; for answering a text is a question
    and the second text its passage. ``words`` are the characters of each text's words where they are known (tagging).
    With ``dropout``, the seed of the draw, each dropout layer sets ``DROPOUT`` of its numbers to 0, whatever its own
    rate: what one gets who forgets eval().

    Raises NotSupported for a model that has no head for a task, InvalidInput for a text that cannot be read.
    """

    model: str
    texts: tuple[tuple[str, str | None], ...]
    words: tuple[tuple[tuple[int, int], ...] | None, ...] | None = None
    dropout: int | None = None

    def __post_init__(self) -> None:
        for number, (text, pair) in enumerate(self.texts, start=1):
            texts.check_pair(text, pair, f"Text {number}" if len(self.texts) > 1 and pair is None else "")

    @property
    def n_characters(self) -> int:
        return sum(len(text) + len(pair or "") for text, pair in self.texts)

    def answer(self, loaded: LoadedModel) -> tuple[Prediction, ...]:
        with nullcontext() if self.dropout is None else _dropping(loaded, self.dropout):
            return _answers(loaded, self.texts, self.words, lambda task, output, batch: task.read(output, batch))

    @classmethod
    def example(cls, model: str) -> Predict:
        return cls(model, (("a b c", None),))


@dataclass(frozen=True, slots=True)
class SoftScores(Question[tuple[tuple[float, ...], ...]]):
    """The scores (logits) of a tuned model for each text or pair: what a student learns from a teacher."""

    model: str
    texts: tuple[tuple[str, str | None], ...]

    def answer(self, loaded: LoadedModel) -> tuple[tuple[float, ...], ...]:
        return _answers(
            loaded, self.texts, None, lambda task, output, _: [tuple(row) for row in task.soft_scores(output).tolist()]
        )

    @classmethod
    def example(cls, model: str) -> SoftScores:
        return cls(model, (("a b c", None),))


@contextmanager
def _dropping(loaded: LoadedModel, seed: int) -> Iterator[None]:
    """Dropout layers set numbers to 0 as in training (Srivastava et al. 2014), in the passes of this thread alone. What
    attention drops by itself, without a layer, stays.
    """
    import torch

    from model_zoo.capture import hooked

    drawn = torch.Generator().manual_seed(seed)

    def drop(_layer: Any, _inputs: Any, output: torch.Tensor) -> torch.Tensor:
        kept = torch.rand(output.shape, generator=drawn) >= DROPOUT
        return output * kept.to(output.device) / (1 - DROPOUT)

    layers = (module for module in loaded.model.modules() if isinstance(module, torch.nn.Dropout))
    with hooked(layers, drop):
        yield


def _answers(
    loaded: LoadedModel,
    texts: Sequence[tuple[str, str | None]],
    words: Sequence[Sequence[Span] | None] | None,
    read: Callable[[Task, Any, Batch], Sequence[Answer]],
) -> tuple[Answer, ...]:
    """What ``read`` makes of the network's output for each text or pair, in their order."""
    import torch

    from model_zoo.running import batches
    from training.finetuning.tasks import TASKS
    from training.finetuning.tasks.base import Batch

    kind = refuse_untuned(loaded)
    encodings = [loaded.encode(text, pair) for text, pair in texts]
    answers: dict[int, Answer] = {}
    with torch.inference_mode():
        for places in batches(loaded, encodings, kind):
            of_words = [None if words is None else words[place] for place in places]
            batch = Batch([encodings[place] for place in places], loaded.info.labels, of_words)
            output = loaded.model(**loaded.inputs(batch.encodings))
            answers |= dict(zip(places, read(TASKS[kind], output, batch), strict=True))
    return tuple(answers[place] for place in range(len(encodings)))


def refuse_untuned(loaded: LoadedModel) -> TunedFor:
    """What a model was tuned for. Raises NotSupported for one that was not."""
    kind = loaded.info.tuned_for
    if kind is None:
        raise NotSupported(
            f"{loaded.info.id} has no task head, so it predicts no labels. Train a model on the page “Train”, or "
            "choose a checkpoint that was fine-tuned for a task."
        )
    return kind
