"""Labels of texts and of pairs: softmax over the labels, from the vector of the first token ([CLS])."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from training.finetuning.data import Item, Labelled, cast_all
from training.finetuning.results import Classified, Prediction
from training.finetuning.tasks.base import Batch, Task


class Classification(Task):
    kind = "classification"
    problem_type = "single_label_classification"

    def targets(self, batch: Batch, items: Sequence[Item]) -> torch.Tensor:
        return torch.tensor([batch.numbers[item.label] for item in cast_all(Labelled, items)])

    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(self.soft_scores(output), targets)

    def read(self, output: Any, batch: Batch) -> list[Prediction]:
        shares = self.soft_scores(output).softmax(dim=-1).tolist()
        return [Classified(batch.labels[max(range(len(row)), key=row.__getitem__)], tuple(row)) for row in shares]

    def soft_scores(self, output: Any) -> torch.Tensor:
        scores: torch.Tensor = output.logits.float()
        return scores


TASK = Classification()
