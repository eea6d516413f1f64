"""Losses: hand-made batches against hand-computed values, and against transformers' own losses."""

import math

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from training.batches import IS_RANDOM, NO_PAIR, Masked, Rows
from training.models import ARCHITECTURES
from training.objective import Batch, Objective, divergence, matched_layers, mean_cross_entropy
from training.recipes import Distillation

CONFIGS = {
    "bert": {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16},
    "modernbert": {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8},
    "bilstm": {"hidden_size": 8, "num_hidden_layers": 2},
}
VOCABULARY = 8


def _model(architecture: str, **config) -> PreTrainedModel:
    torch.manual_seed(0)
    kind = ARCHITECTURES[architecture]
    sizes = CONFIGS[architecture] | {"vocab_size": VOCABULARY, "pad_token_id": 0} | config
    if architecture == "modernbert":
        sizes |= {"cls_token_id": 1, "bos_token_id": 1, "sep_token_id": 2, "eos_token_id": 2}
    return kind.model(kind.config(**sizes)).eval()


@pytest.fixture
def batch() -> Batch:
    """Two rows; tokens 4 and 5 of the first and token 7 of the second were hidden behind 3."""
    rows = Rows(
        ids=np.array([[1, 4, 5, 2, 6, 2], [1, 7, 6, 2, 0, 0]]),
        segments=np.array([[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]]),
        attention=np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]]),
        next_label=np.array([IS_RANDOM, NO_PAIR]),
    )
    masked = Masked(
        ids=np.array([[1, 3, 3, 2, 6, 2], [1, 3, 6, 2, 0, 0]]),
        chosen=np.array([[False, True, True, False, False, False], [False, True, False, False, False, False]]),
    )
    return Batch.of(rows, masked, torch.device("cpu"))


def _constant(model: PreTrainedModel, words: list[float], pairs: list[float]) -> PreTrainedModel:
    """Make a BERT predict these distributions whatever it reads."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.cls.predictions.decoder.bias.copy_(torch.tensor(words).log())
        model.cls.seq_relationship.bias.copy_(torch.tensor(pairs).log())
    return model


def test_cross_entropy_by_hand():
    scores = torch.tensor([[0.0, math.log(3)], [0.0, 0.0], [5.0, 5.0]])  # 1/4 and 3/4; 1/2; ignored
    loss = mean_cross_entropy(scores, torch.tensor([0, 1, NO_PAIR]))
    assert loss.item() == pytest.approx((math.log(4) + math.log(2)) / 2)
    assert mean_cross_entropy(scores, torch.tensor([NO_PAIR] * 3)).item() == 0.0


def test_loss_of_a_hand_made_batch(batch: Batch):
    # Targets 4, 5 and 7 have probability 1/4, 1/8 and 1/32; the one pair is random, which has 1/5.
    words = [1 / 4, 1 / 8, 1 / 8, 1 / 16, 1 / 4, 1 / 8, 1 / 32, 1 / 32]
    model = _constant(_model("bert"), words, [4 / 5, 1 / 5])
    losses = Objective(ARCHITECTURES["bert"])(model, batch)
    mlm = (2 + 3 + 5) * math.log(2) / 3
    assert losses["mlm"].item() == pytest.approx(mlm, rel=1e-6)
    assert losses["nsp"].item() == pytest.approx(math.log(5), rel=1e-6)
    assert losses["loss"].item() == pytest.approx(mlm + math.log(5), rel=1e-6)


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_loss_equals_that_of_transformers(architecture: str, batch: Batch):
    model = _model(architecture)
    labels = torch.full_like(batch.input_ids, -100)
    labels[batch.chosen] = batch.targets
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention, "labels": labels}
    if architecture == "bert":
        inputs |= {"token_type_ids": batch.segments, "next_sentence_label": batch.next_label}
    with torch.no_grad():
        expected = model(**inputs).loss
        losses = Objective(ARCHITECTURES[architecture])(model, batch)
    assert losses["loss"].item() == pytest.approx(expected.item(), rel=1e-5)
    assert ("nsp" in losses) == (architecture == "bert")


def test_divergence_by_hand():
    student, teacher = torch.tensor([[0.25, 0.75]]).log(), torch.tensor([[0.5, 0.5]]).log()
    assert divergence(student, teacher, 1.0).item() == pytest.approx(0.5 * math.log(4 / 3))
    assert divergence(teacher, teacher, 3.0).item() == pytest.approx(0.0, abs=1e-7)
    # At temperature 2 the odds 1 : 3 become 1 : sqrt(3); the factor 2² keeps the gradient's size.
    low = 1 / (1 + math.sqrt(3))
    by_hand = 4 * 0.5 * (math.log(0.5 / low) + math.log(0.5 / (1 - low)))
    assert divergence(student, teacher, 2.0).item() == pytest.approx(by_hand, rel=1e-5)
    assert divergence(student[:0], teacher[:0], 1.0).item() == 0.0
    assert matched_layers(2, 6) == (0, 3, 6)
    assert matched_layers(3, 3) == (0, 1, 2, 3)


def test_distillation_adds_divergence_and_hidden_distance(batch: Batch):
    words = [1 / 8] * 8
    student = _constant(_model("bert"), words, [1 / 2, 1 / 2])
    taught = [1 / 4, 1 / 4, 1 / 16, 1 / 16, 1 / 16, 1 / 16, 1 / 8, 1 / 8]
    teacher = _constant(_model("bert", hidden_size=16), taught, [1 / 2, 1 / 2])
    settings = Distillation(teacher="t", soft=2.0, hidden=10.0, every=3)
    objective = Objective(ARCHITECTURES["bert"], teacher, settings, student_width=8, student_layers=2)
    with torch.no_grad():
        for projection in objective.projections:  # the student's states are 0, so the bias is all that is projected
            projection.bias.fill_(0.5)
        losses = [objective(student, batch, step)["loss"].item() for step in range(4)]
    kl = sum(p * math.log(p * 8) for p in taught)
    plain = math.log(8) + math.log(2)
    taught_too = plain + 2 * kl + 10 * 0.25
    assert losses == pytest.approx([taught_too, plain, plain, taught_too], rel=1e-5)


def test_the_teacher_is_not_trained(batch: Batch):
    teacher = _model("bert").requires_grad_(False)
    student = _model("bert", hidden_size=4)
    objective = Objective(ARCHITECTURES["bert"], teacher, Distillation(teacher="t"), student_width=4, student_layers=2)
    objective(student, batch)["loss"].backward()
    assert {name.partition(".")[0] for name, _ in objective.named_parameters()} == {"projections"}
    assert all(parameter.grad is not None for parameter in objective.parameters())
    assert all(parameter.grad is None for parameter in teacher.parameters())
    assert all(parameter.grad is not None for parameter in student.parameters())
