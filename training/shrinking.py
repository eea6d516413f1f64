"""A small BERT that begins as a part of a large one: fewer directions, heads, neurons and layers of the same weights.

Structured pruning as a start (as in Xia et al. 2024, arXiv:2310.06694), chosen from the weights alone. What matters
most is what a small model learns last: to look at its neighbours. So the kept directions hold the positions as well as
the words, and half of the first layer's heads are ones that look one or two tokens away. All other heads start afresh:
many heads of a trained model look at [CLS] or [SEP] whatever the text, and do not get away from there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

_POSITIONS = 128
"""The positions that training uses."""

_NO_HEADS = torch.empty(0, dtype=torch.long)

_NEAR = (-2, -1, 1, 2)
"""Distances in tokens between a query and a key next to it."""


def shrink(student: Any, teacher: Any) -> None:
    """Fill a BertForPreTraining with a part of a larger one of the same vocabulary, in place.

    Raises ValueError when the heads of the two are not equally wide.
    """
    small, large = student.config, teacher.config
    width = large.hidden_size // large.num_attention_heads
    if small.hidden_size // small.num_attention_heads != width:
        raise ValueError(f"the student's heads must be {width} wide, as the teacher's are")
    kept = directions(teacher, small.hidden_size)
    theirs, embeddings = teacher.bert.embeddings, student.bert.embeddings
    with torch.no_grad():
        for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
            getattr(embeddings, name).weight.copy_(
                getattr(theirs, name).weight[: len(getattr(embeddings, name).weight)] @ kept
            )
        _normalization(embeddings.LayerNorm, theirs.LayerNorm, kept)
        near = torch.stack([nearness(teacher, layer) for layer in range(large.num_hidden_layers)])
        first = int(near.topk(small.num_attention_heads).values.sum(dim=1).argmax())
        places = torch.linspace(first, large.num_hidden_layers - 1, small.num_hidden_layers).round().int().tolist()
        for place, (layer, source) in enumerate(
            zip(student.bert.encoder.layer, (teacher.bert.encoder.layer[place] for place in places), strict=True)
        ):
            nearby = near[first].topk((small.num_attention_heads + 1) // 2).indices if place == 0 else _NO_HEADS
            _attention(layer.attention, source.attention, kept, nearby, width)
            _neurons(layer, source, kept, small.intermediate_size)
        transform, taught = student.cls.predictions.transform, teacher.cls.predictions.transform
        transform.dense.weight.copy_(kept.T @ taught.dense.weight @ kept)
        transform.dense.bias.copy_(taught.dense.bias @ kept)
        _normalization(transform.LayerNorm, taught.LayerNorm, kept)
        # What the teacher reads from [CLS] of two texts lies in directions that words lack. What is left of it in
        # the kept ones is so faint that nothing is learned through it; so this head starts afresh, and strong.
        nn.init.eye_(student.bert.pooler.dense.weight)
        nn.init.zeros_(student.bert.pooler.dense.bias)
        nn.init.normal_(student.cls.seq_relationship.weight, std=0.2)


def directions(teacher: Any, width: int) -> torch.Tensor:
    """The principal directions (teacher's width, width) of words and positions, orthonormal, both given equal weight:
    positions vary less than words do, and would otherwise be lost.
    """
    embeddings = teacher.bert.embeddings
    covariance = torch.zeros(teacher.config.hidden_size, teacher.config.hidden_size)
    for rows in (
        embeddings.word_embeddings.weight.detach(),
        embeddings.position_embeddings.weight[:_POSITIONS].detach(),
    ):
        centred = rows - rows.mean(dim=0)
        part = centred.T @ centred
        covariance += part / part.trace()
    _, vectors = torch.linalg.eigh(covariance)  # ascending eigenvalues
    return vectors[:, -width:].contiguous()


@torch.no_grad()
def nearness(teacher: Any, layer: int) -> torch.Tensor:
    """How much each head (heads,) of a layer attends to one near distance when it sees positions alone."""
    embeddings, attention = teacher.bert.embeddings, teacher.bert.encoder.layer[layer].attention.self
    states = embeddings.LayerNorm(
        embeddings.position_embeddings.weight[:_POSITIONS]
        + embeddings.token_type_embeddings.weight[0]
        + embeddings.word_embeddings.weight.mean(dim=0)
    )
    n_heads = teacher.config.num_attention_heads
    query, key = (
        project(states).unflatten(-1, (n_heads, -1)).transpose(0, 1) for project in (attention.query, attention.key)
    )
    weights = (query @ key.transpose(1, 2) / query.shape[-1] ** 0.5).softmax(dim=-1)
    return torch.stack([weights.diagonal(distance, 1, 2).mean(dim=-1) for distance in _NEAR]).amax(dim=0)


def _normalization(student: nn.LayerNorm, theirs: nn.LayerNorm, kept: torch.Tensor) -> None:
    """Gains belong to coordinates, which are gone: all get the teacher's root mean square."""
    student.weight.fill_(theirs.weight.square().mean().sqrt())
    student.bias.copy_(theirs.bias @ kept)


def _attention(student: Any, theirs: Any, kept: torch.Tensor, heads: torch.Tensor, width: int) -> None:
    """Put these heads first; the others look everywhere equally, and write as strongly as they read."""
    rows = (heads[:, None] * width + torch.arange(width)).flatten()
    n = len(rows)
    for name in ("query", "key", "value"):
        source, target = getattr(theirs.self, name), getattr(student.self, name)
        if name == "value":
            nn.init.normal_(target.weight, std=target.in_features**-0.5)
        target.weight[:n] = source.weight[rows] @ kept
        target.bias[:n] = source.bias[rows]
    nn.init.normal_(student.output.dense.weight, std=student.output.dense.in_features**-0.5)
    student.output.dense.weight[:, :n] = kept.T @ theirs.output.dense.weight[:, rows]
    student.output.dense.bias.copy_(theirs.output.dense.bias @ kept)
    _normalization(student.output.LayerNorm, theirs.output.LayerNorm, kept)


def _neurons(student: Any, theirs: Any, kept: torch.Tensor, n: int) -> None:
    """The feed-forward part's neurons that read and write most."""
    reads, writes = theirs.intermediate.dense, theirs.output.dense
    worth = (reads.weight @ kept).norm(dim=1) * (kept.T @ writes.weight).norm(dim=0)
    chosen = worth.topk(n).indices
    student.intermediate.dense.weight.copy_(reads.weight[chosen] @ kept)
    student.intermediate.dense.bias.copy_(reads.bias[chosen])
    student.output.dense.weight.copy_(kept.T @ writes.weight[:, chosen])
    student.output.dense.bias.copy_(writes.bias @ kept)
    _normalization(student.output.LayerNorm, theirs.output.LayerNorm, kept)
