"""What is minimized: masked words, next sentences, and the distance to a teacher."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel

from training.batches import NO_PAIR, Masked, Rows
from training.models import Architecture
from training.recipes import Distillation


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's input on the device; ``input_ids`` with hidden tokens, ``targets`` (k,) the chosen ones.

    Chosen are the masked, the replaced and the kept tokens: BERT is trained on all three. What is reported as right of
    "masked tokens" counts the first kind alone, see ``training.evaluate``.
    """

    input_ids: torch.Tensor
    segments: torch.Tensor
    attention: torch.Tensor
    chosen: torch.Tensor
    targets: torch.Tensor
    next_label: torch.Tensor

    @classmethod
    def of(cls, rows: Rows, masked: Masked, device: torch.device) -> Batch:
        return cls(
            *(
                torch.from_numpy(array).to(device)
                for array in (
                    masked.ids,
                    rows.segments,
                    rows.attention,
                    masked.chosen,
                    rows.ids[masked.chosen],
                    rows.next_label,
                )
            )
        )


@dataclass(frozen=True, slots=True)
class Predictions:
    """Scores of the chosen tokens (k, vocabulary) and of the pairs (rows, 2), and the encoder's output."""

    words: torch.Tensor
    pairs: torch.Tensor | None
    encoded: Any


def predict(model: PreTrainedModel, architecture: Architecture, batch: Batch, hidden_states: bool) -> Predictions:
    """One forward pass; only the chosen tokens are decoded, which is most of the saving in a small model."""
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention}
    if architecture.next_sentence is not None:
        inputs["token_type_ids"] = batch.segments
    encoded = model.base_model(**inputs, output_hidden_states=hidden_states)
    return Predictions(
        words=architecture.predict(model, encoded.last_hidden_state[batch.chosen]),
        pairs=architecture.next_sentence(model, encoded) if architecture.next_sentence is not None else None,
        encoded=encoded,
    )


def mean_cross_entropy(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean of -log softmax(scores)[target] in nats over the targets that are not -100; 0 without any."""
    total = functional.cross_entropy(scores.float(), targets, ignore_index=NO_PAIR, reduction="sum")
    return total / (targets != NO_PAIR).sum().clamp(min=1)


def divergence(student: torch.Tensor, teacher: torch.Tensor, temperature: float) -> torch.Tensor:
    """Mean KL(teacher ‖ student) of the rows' softmax at temperature T, times T² (Hinton et al. 2015)."""
    if len(student) == 0:
        return student.float().sum()
    return (
        functional.kl_div(
            (student.float() / temperature).log_softmax(dim=-1),
            (teacher.float() / temperature).log_softmax(dim=-1),
            log_target=True,
            reduction="batchmean",
        )
        * temperature**2
    )


def matched_layers(n_student: int, n_teacher: int) -> tuple[int, ...]:
    """For every hidden state of the student (embeddings first) the teacher's, evenly spaced, last to last."""
    return tuple(round(layer * n_teacher / n_student) for layer in range(n_student + 1))


class Objective(nn.Module):
    """The loss of a batch. Where it distills it holds the projections to the teacher's width."""

    def __init__(
        self,
        architecture: Architecture,
        teacher: PreTrainedModel | None = None,
        distillation: Distillation | None = None,
        student_width: int = 0,
        student_layers: int = 0,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.distillation = distillation
        self._teacher = (teacher,)  # in a tuple: its weights are not parameters of this module
        if teacher is not None:
            self.layers = matched_layers(student_layers, teacher.config.num_hidden_layers)
            self.projections = nn.ModuleList(nn.Linear(student_width, teacher.config.hidden_size) for _ in self.layers)

    def forward(self, model: PreTrainedModel, batch: Batch, step: int = 0) -> dict[str, torch.Tensor]:
        """``loss`` is the sum to minimize; ``mlm`` (nats per chosen token, masked or not) and ``nsp`` (nats per pair,
        where there is a head) are its parts.

        The teacher is asked at the steps that its recipe names.
        """
        (teacher,) = self._teacher
        if self.distillation is not None and step % self.distillation.every:
            teacher = None
        predicted = predict(model, self.architecture, batch, hidden_states=teacher is not None)
        losses = {"mlm": mean_cross_entropy(predicted.words, batch.targets)}
        if predicted.pairs is not None:
            losses["nsp"] = mean_cross_entropy(predicted.pairs, batch.next_label)
        loss = torch.stack(list(losses.values())).sum()
        if teacher is not None and self.distillation is not None:
            with torch.no_grad():
                known = predict(teacher, self.architecture, batch, hidden_states=True)
            soft = divergence(predicted.words, known.words, self.distillation.temperature)
            if predicted.pairs is not None and known.pairs is not None:
                paired = batch.next_label != NO_PAIR
                soft = soft + divergence(predicted.pairs[paired], known.pairs[paired], self.distillation.temperature)
            hidden = self._hidden_distance(
                predicted.encoded.hidden_states, known.encoded.hidden_states, batch.attention
            )
            loss = loss + self.distillation.soft * soft + self.distillation.hidden * hidden
        return {"loss": loss, **{name: part.detach() for name, part in losses.items()}}

    def _hidden_distance(
        self, students: Iterable[torch.Tensor], known: tuple[torch.Tensor, ...], attention: torch.Tensor
    ) -> torch.Tensor:
        """Mean squared distance of projected states to the teacher's, over real tokens and layers."""
        real = attention.bool()
        distances = [
            functional.mse_loss(projection(states[real]).float(), known[layer][real].float())
            for states, layer, projection in zip(students, self.layers, self.projections, strict=True)
        ]
        return torch.stack(distances).mean()
