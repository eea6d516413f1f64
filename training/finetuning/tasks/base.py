"""What a kind of task is to the loop: head, targets, loss, and how its output is read. One file a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from model_zoo.types import Encoding
from training.finetuning.data import Data, Item, Kind
from training.finetuning.results import Prediction

if TYPE_CHECKING:
    import torch

IGNORED = -100
"""The target that no loss counts: pieces of a word after its first, [CLS], [SEP] and padding."""

Span = tuple[int, int]


class Task(ABC):
    """A kind of task; ``network.TUNED`` has the class of its network."""

    kind: ClassVar[Kind]

    @abstractmethod
    def configure(self, config: Any, data: Data) -> None:
        """Give a network's config the outputs that the data needs."""

    @abstractmethod
    def targets(self, encodings: Sequence[Encoding], items: Sequence[Item], labels: Sequence[str]) -> torch.Tensor:
        """What the network is to answer for a batch, padded to its longest text."""

    def without_padding(self, output: Any, mask: torch.Tensor | None) -> Any:  # noqa: ARG002
        """The output, in which padding (0 in the ``mask``) counts for nothing; None where there is none."""
        return output

    @abstractmethod
    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        """Mean over what is to be answered."""

    @abstractmethod
    def read(
        self, output: Any, encodings: Sequence[Encoding], words: Sequence[Sequence[Span] | None], labels: Sequence[str]
    ) -> list[Prediction]:
        """The predictions of a batch. ``words`` are the characters of each text's words, None for those found by
        ``model_zoo.text.word_spans``.
        """

    def soft_scores(self, output: Any) -> torch.Tensor:
        """The scores (rows, labels) that a student learns from. Raises NotImplementedError where there are none."""
        raise NotImplementedError


def rows_of(scores: torch.Tensor) -> list[list[float]]:
    """A batch of scores as plain numbers."""
    found: list[list[float]] = scores.float().tolist()
    return found
