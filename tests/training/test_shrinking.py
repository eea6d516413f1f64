"""A student that begins as a part of its teacher: what is kept computes what it computed there."""

import math

import pytest
import torch
from transformers import BertConfig, BertForPreTraining

from training.shrinking import directions, nearness, shrink

WIDTH, KEPT, WORDS, POSITIONS = 16, 8, 60, 128


def bert(
    width: int = WIDTH, heads: int = 2, layers: int = 3, neurons: int = 24, spread: float = 0.3
) -> BertForPreTraining:
    torch.manual_seed(width + heads)
    config = BertConfig(
        vocab_size=WORDS,
        hidden_size=width,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=neurons,
        max_position_embeddings=POSITIONS,
        initializer_range=spread,
    )
    return BertForPreTraining(config).eval()


@pytest.fixture
def flat_teacher() -> BertForPreTraining:
    """Words, positions and segments in a plane of as many dimensions as are kept."""
    teacher = bert()
    plane = torch.randn(KEPT, WIDTH)
    with torch.no_grad():
        for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
            rows = getattr(teacher.bert.embeddings, name).weight
            rows.copy_(torch.randn(len(rows), KEPT) @ plane)
    return teacher


def near_head(teacher: BertForPreTraining, layer: int, head: int, distance: int) -> None:
    """Make a head of a layer attend ``distance`` tokens away, whatever the words are: positions are points on
    circles, and its query turns them.
    """
    speeds = torch.tensor([0.3, 0.9, 1.7])
    angles = torch.arange(POSITIONS)[:, None] * speeds
    circles = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)  # (positions, 6)
    embeddings = teacher.bert.embeddings
    with torch.no_grad():
        embeddings.token_type_embeddings.weight.zero_()
        embeddings.word_embeddings.weight[:, :12] = 0
        embeddings.position_embeddings.weight.zero_()
        embeddings.position_embeddings.weight[:, :6] = circles
        embeddings.position_embeddings.weight[:, 6:12] = -circles  # a mean of zero, which normalization takes away
        attention = teacher.bert.encoder.layer[layer].attention.self
        rows = slice(head * 8, head * 8 + 8)
        for project in (attention.query, attention.key):
            project.weight[rows] = 0
            project.bias[rows] = 0
        turned = [torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in distance * speeds]
        attention.query.weight[rows][:6, :6] = 8 * torch.block_diag(*turned)
        attention.key.weight[rows][:6, :6] = 8 * torch.eye(6)


def test_directions_are_orthonormal_and_hold_the_positions(flat_teacher):
    kept = directions(flat_teacher, KEPT)
    torch.testing.assert_close(kept.T @ kept, torch.eye(KEPT), atol=1e-5, rtol=0)
    with torch.no_grad():
        small = flat_teacher.bert.embeddings.position_embeddings.weight
        small *= 0.01  # as little as they vary beside the words
    kept = directions(flat_teacher, KEPT)
    centred = (small - small.mean(dim=0)).detach()
    assert (centred @ kept).norm() / centred.norm() == pytest.approx(1, abs=1e-3)


def test_words_keep_their_distances(flat_teacher):
    student = bert(KEPT, heads=1, layers=2)
    shrink(student, flat_teacher)
    for name in ("word_embeddings", "position_embeddings"):
        mine, theirs = (getattr(model.bert.embeddings, name).weight for model in (student, flat_teacher))
        distances = [torch.linalg.vector_norm(rows[:, None] - rows, dim=-1) for rows in (mine, theirs)]
        torch.testing.assert_close(*distances, atol=1e-3, rtol=1e-3)
    assert torch.equal(student.cls.predictions.decoder.weight, student.get_input_embeddings().weight)


def test_a_kept_head_and_the_neurons_compute_what_they_did(flat_teacher):
    """On states in the kept directions, before any normalization."""
    student = bert(KEPT, heads=1, layers=1)
    shrink(student, flat_teacher)
    kept = directions(flat_teacher, KEPT)
    best = max(range(3), key=lambda place: nearness(flat_teacher, place).max())
    head = int(nearness(flat_teacher, best).argmax())
    rows = slice(8 * head, 8 * head + 8)
    mine, theirs = student.bert.encoder.layer[0], flat_teacher.bert.encoder.layer[best]
    states = torch.randn(5, KEPT)
    for name in ("query", "key", "value"):
        in_teacher = getattr(theirs.attention.self, name)(states @ kept.T)[:, rows]
        torch.testing.assert_close(getattr(mine.attention.self, name)(states), in_teacher, atol=1e-4, rtol=1e-4)
    mixed = torch.zeros(5, WIDTH)
    mixed[:, rows] = torch.randn(5, 8)
    torch.testing.assert_close(
        mine.attention.output.dense(mixed[:, rows]), theirs.attention.output.dense(mixed) @ kept, atol=1e-4, rtol=1e-4
    )
    torch.testing.assert_close(  # all neurons are kept
        mine.output.dense(mine.intermediate(states)),
        theirs.output.dense(theirs.intermediate(states @ kept.T)) @ kept,
        atol=1e-4,
        rtol=1e-4,
    )


@pytest.mark.parametrize("distance", [-1, 1, 2])
def test_the_first_layer_gets_heads_that_look_nearby(distance):
    teacher = bert()
    near_head(teacher, layer=1, head=1, distance=distance)
    assert nearness(teacher, 1)[1] > 0.8
    assert nearness(teacher, 1)[0] < 0.4
    student = bert(KEPT, heads=1, layers=2, spread=0.02)
    shrink(student, teacher)
    kept = directions(teacher, KEPT)
    expected = teacher.bert.encoder.layer[1].attention.self.query.weight[8:] @ kept
    first, second = (layer.attention.self.query.weight for layer in student.bert.encoder.layer)
    torch.testing.assert_close(first, expected)
    assert second.abs().max() < 0.1  # starts anew, and looks everywhere alike


def test_few_neurons_are_those_that_read_and_write_most(flat_teacher):
    with torch.no_grad():
        for layer in flat_teacher.bert.encoder.layer:
            layer.intermediate.dense.weight[[3, 7]] *= 100
    student = bert(KEPT, heads=1, layers=1, neurons=2)
    shrink(student, flat_teacher)
    bias = student.bert.encoder.layer[0].intermediate.dense.bias
    assert any(
        torch.equal(bias.sort().values, layer.intermediate.dense.bias[[3, 7]].sort().values)
        for layer in flat_teacher.bert.encoder.layer
    )


def test_heads_of_another_width_are_refused(flat_teacher):
    with pytest.raises(ValueError, match="must be 8 wide"):
        shrink(bert(KEPT, heads=2), flat_teacher)
