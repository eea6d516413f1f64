"""How alike two texts are: one number from the vector of the first token, learnt by its squared error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from model_zoo.types import Encoding
from training.finetuning.data import HIGHEST_SCORE, Data, Item, Scored
from training.finetuning.results import Prediction, Rated
from training.finetuning.tasks.base import Span, Task

# The network answers on the scale from 0 to 1: a head that begins near 0 would take long to reach 5.
_SCALE = HIGHEST_SCORE


class Similarity(Task):
    kind = "similarity"

    def configure(self, config: Any, data: Data) -> None:  # noqa: ARG002
        config.num_labels = 1
        config.problem_type = "regression"

    def targets(self, encodings: Sequence[Encoding], items: Sequence[Item], labels: Sequence[str]) -> torch.Tensor:  # noqa: ARG002
        return torch.tensor([item.score / _SCALE for item in items if isinstance(item, Scored)])

    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        return functional.mse_loss(output.logits.float().squeeze(-1), targets)

    def read(
        self,
        output: Any,
        encodings: Sequence[Encoding],  # noqa: ARG002
        words: Sequence[Sequence[Span] | None],  # noqa: ARG002
        labels: Sequence[str],  # noqa: ARG002
    ) -> list[Prediction]:
        return [Rated(_SCALE * score) for score in output.logits.float().squeeze(-1).tolist()]


TASK = Similarity()
