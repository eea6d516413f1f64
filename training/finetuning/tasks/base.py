"""A kind of task for the loop: head, targets, loss, and how its output is read. One file a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from model_zoo.types import Encoding
from training.finetuning.data import Data, Item, Kind
from training.finetuning.results import Prediction

if TYPE_CHECKING:
    import torch

IGNORED = -100
"""The target that no loss counts: pieces of a word after its first, [CLS], [SEP] and padding."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts that go through a network together. ``labels`` are those of its outputs, ``words`` the characters of each
    text's words, None for those found by ``model_zoo.text.word_spans``.
    """

    encodings: Sequence[Encoding]
    labels: Sequence[str]
    words: Sequence[Sequence[Span] | None]

    @property
    def numbers(self) -> Mapping[str, int]:
        """The output of each label."""
        return {label: number for number, label in enumerate(self.labels)}


class Task(ABC):
    """A kind of task; its network's class is in ``network.TUNED``. A task without ``n_outputs`` has one per label."""

    kind: ClassVar[Kind]
    n_outputs: ClassVar[int | None] = None
    problem_type: ClassVar[str | None] = None

    def configure(self, config: Any, data: Data) -> None:
        """Give a network's config the outputs that the data needs."""
        config.num_labels = len(data.labels) if self.n_outputs is None else self.n_outputs
        if self.n_outputs is None:
            config.id2label = dict(enumerate(data.labels))
            config.label2id = {label: number for number, label in config.id2label.items()}
        if self.problem_type is not None:
            config.problem_type = self.problem_type

    @abstractmethod
    def targets(self, batch: Batch, items: Sequence[Item]) -> torch.Tensor:
        """The expected answers of the network for a batch: integers (texts,) of labels, (texts, tokens) of tags, padded
        to the longest text with -100, (texts, 2) of first and last tokens, or floats (texts,) of similarities.
        """

    def without_padding(self, output: Any, mask: torch.Tensor | None) -> Any:  # noqa: ARG002
        """The output, in which padding (0 in the ``mask``) counts for nothing; None where there is none."""
        return output

    @abstractmethod
    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        """A scalar in nats, or for similarities in their units squared: the mean over what is to be answered."""

    @abstractmethod
    def read(self, output: Any, batch: Batch) -> list[Prediction]:
        """The predictions of a batch."""

    def soft_scores(self, output: Any) -> torch.Tensor:
        """The scores (rows, labels) that a student learns from. Raises NotImplementedError where there are none."""
        raise NotImplementedError
