"""Similarity of two texts: one number from the vector of the first token, trained with the squared error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from training.finetuning.data import HIGHEST_SCORE, Item, Scored, cast_all
from training.finetuning.results import Prediction, Rated
from training.finetuning.tasks.base import Batch, Task

# The network answers on the scale from 0 to 1: a head that begins near 0 would take long to reach 5.
_SCALE = HIGHEST_SCORE


class Similarity(Task):
    kind = "similarity"
    n_outputs = 1
    problem_type = "regression"

    def targets(self, batch: Batch, items: Sequence[Item]) -> torch.Tensor:  # noqa: ARG002
        return torch.tensor([item.score / _SCALE for item in cast_all(Scored, items)])

    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        return functional.mse_loss(output.logits.float().squeeze(-1), targets)

    def read(self, output: Any, batch: Batch) -> list[Prediction]:  # noqa: ARG002
        return [Rated(_SCALE * score) for score in output.logits.float().squeeze(-1).tolist()]


TASK = Similarity()
