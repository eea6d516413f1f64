"""What a layer's attention is made from, by the modules of its own network: the reference for what is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from checkpoints.sizes import WIDTH

Watch = Callable[..., None]
"""``watch(module)`` or ``watch(module, method)`` keeps what it is given and what it makes of it."""


@dataclass
class Block:
    """What one layer's attention computes, by its own modules: q and k (heads, n, d), v (heads, n, d), what is added to
    q·k (heads, n, n), the factor before softmax, W_O (heads, d, width), and with b_O what comes out (n, width).
    """

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    added: torch.Tensor
    factor: float
    w_o: torch.Tensor
    b_o: torch.Tensor | float
    out: torch.Tensor


def split_heads(states: torch.Tensor, heads: int) -> torch.Tensor:
    """(n, width) as (heads, n, d)."""
    return states.reshape(len(states), heads, WIDTH // heads).transpose(0, 1)


def of_linear(dense: Any, heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """W_O (heads, d, width) and b_O of an output projection."""
    return dense.weight.T.reshape(heads, WIDTH // heads, WIDTH), dense.bias


def watch_bert(model: Any, watch: Watch) -> None:
    """What each attention is given and what comes out, where modules are named as BERT's."""
    for layer in model.encoder.layer:
        watch(layer.attention.self)
        watch(layer.attention.output.dense)


def bert_block(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    """Three linear modules named as BERT's, nothing added; padding beyond ``n`` cut off."""
    attention, heads = model.encoder.layer[number].attention, model.config.num_attention_heads
    states = inputs[attention.self][0][0][:n]
    q, k, v = (split_heads(getattr(attention.self, name)(states), heads) for name in ("query", "key", "value"))
    dense = attention.output.dense
    out = made[dense][0][:n]
    return Block(q, k, v, torch.zeros(heads, n, n), (WIDTH // heads) ** -0.5, *of_linear(dense, heads), out)
