"""Labels of texts and of pairs: softmax over the labels, from the vector of the first token ([CLS])."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from model_zoo.types import Encoding
from training.finetuning.data import Data, Item, Labelled
from training.finetuning.results import Classified, Prediction
from training.finetuning.tasks.base import Span, Task, rows_of


class Classification(Task):
    kind = "classification"

    def configure(self, config: Any, data: Data) -> None:
        config.num_labels = len(data.labels)
        config.id2label = dict(enumerate(data.labels))
        config.label2id = {label: place for place, label in enumerate(data.labels)}
        config.problem_type = "single_label_classification"

    def targets(self, encodings: Sequence[Encoding], items: Sequence[Item], labels: Sequence[str]) -> torch.Tensor:  # noqa: ARG002
        places = {label: place for place, label in enumerate(labels)}
        return torch.tensor([places[item.label] for item in items if isinstance(item, Labelled)])

    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(output.logits.float(), targets)

    def read(
        self,
        output: Any,
        encodings: Sequence[Encoding],  # noqa: ARG002
        words: Sequence[Sequence[Span] | None],  # noqa: ARG002
        labels: Sequence[str],
    ) -> list[Prediction]:
        shares = rows_of(output.logits.float().softmax(dim=-1))
        return [Classified(labels[max(range(len(row)), key=row.__getitem__)], tuple(row)) for row in shares]

    def soft_scores(self, output: Any) -> torch.Tensor:
        scores: torch.Tensor = output.logits.float()
        return scores


TASK = Classification()
