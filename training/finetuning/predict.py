"""A question of this room's own: what a tuned model answers for some texts. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_zoo import text as texts
from model_zoo.errors import NotSupported
from model_zoo.question import Question
from model_zoo.types import TunedFor
from training.finetuning.results import Prediction

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel
    from training.finetuning.tasks.rule import Span


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
        import torch

        from model_zoo.running import batches
        from training.finetuning.tasks import TASKS

        kind = refuse_untuned(loaded)
        task, labels = TASKS[kind], loaded.info.labels
        encodings = [loaded.encode(text, pair) for text, pair in self.texts]
        words: Sequence[Sequence[Span] | None] = self.words or [None] * len(encodings)
        found: dict[int, Prediction] = {}
        with torch.inference_mode():
            for batch in batches(encodings, loaded.family.pads_for(kind)):
                of_batch = [encodings[place] for place in batch]
                output = loaded.model(**loaded.inputs(of_batch))
                read = task.read(output, of_batch, [words[place] for place in batch], labels)
                found |= dict(zip(batch, read, strict=True))
        return tuple(found[place] for place in range(len(encodings)))

    @classmethod
    def example(cls, model: str) -> Predict:
        return cls(model, (("a b c", None),))


@dataclass(frozen=True, slots=True)
class SoftScores(Question[tuple[tuple[float, ...], ...]]):
    """The scores (logits) of a tuned model for each text or pair: what a student learns from a teacher."""

    model: str
    texts: tuple[tuple[str, str | None], ...]

    def answer(self, loaded: LoadedModel) -> tuple[tuple[float, ...], ...]:
        import torch

        from model_zoo.running import batches
        from training.finetuning.tasks import TASKS
        from training.finetuning.tasks.rule import rows_of

        kind = refuse_untuned(loaded)
        encodings = [loaded.encode(text, pair) for text, pair in self.texts]
        found: dict[int, tuple[float, ...]] = {}
        with torch.inference_mode():
            for batch in batches(encodings, loaded.family.pads_for(kind)):
                output = loaded.model(**loaded.inputs([encodings[place] for place in batch]))
                scores = rows_of(TASKS[kind].soft_scores(output))
                found |= {place: tuple(row) for place, row in zip(batch, scores, strict=True)}
        return tuple(found[place] for place in range(len(encodings)))

    @classmethod
    def example(cls, model: str) -> SoftScores:
        return cls(model, (("a b c", None),))


def refuse_untuned(loaded: LoadedModel) -> TunedFor:
    """What a model was tuned for. Raises NotSupported for one that was not."""
    kind = loaded.info.tuned_for
    if kind is None:
        raise NotSupported(
            f"{loaded.info.id} has no head for a task, so it gives no labels. Train one on the page “Train”, or choose "
            "a checkpoint that was tuned for a task."
        )
    return kind
