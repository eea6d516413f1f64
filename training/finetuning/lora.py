"""LoRA: a matrix stays as it is, and a product of two thin ones that learn is added to it (Hu et al. 2022)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import nn

from model_zoo.errors import NotSupported

ALPHA = 16.0
"""What is added is scaled by ALPHA / rank."""

_QUERY_OR_VALUE = frozenset(
    ("query", "value", "q_proj", "v_proj", "q_lin", "v_lin", "query_proj", "value_proj", "in_proj_q", "in_proj_v")
)
_FUSED = frozenset(("Wqkv",))  # queries, keys and values made by one matrix, in this order

Rows = tuple[int, int]


class LoRA(nn.Module):
    """``linear`` (out, in) with ``up @ down`` of this rank added to some of its rows; ``up`` begins at zero, so that
    nothing is changed before the first step.
    """

    def __init__(self, linear: nn.Linear, rank: int, rows: Sequence[Rows]) -> None:
        super().__init__()
        self.linear, self.rows, self.scale = linear, tuple(rows), ALPHA / rank
        width = linear.in_features
        self.down = nn.ParameterList(torch.randn(rank, width) * width**-0.5 for _ in rows)
        self.up = nn.ParameterList(torch.zeros(stop - start, rank) for start, stop in rows)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        parts, reached = [], 0
        for (start, stop), down, up in zip(self.rows, self.down, self.up, strict=True):
            parts += [states.new_zeros(*states.shape[:-1], start - reached)] * (start > reached)
            parts.append((states @ down.T) @ up.T * self.scale)
            reached = stop
        parts += [states.new_zeros(*states.shape[:-1], self.linear.out_features - reached)] * (
            reached < self.linear.out_features
        )
        out: torch.Tensor = self.linear(states)
        return out + (parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1))

    def merged(self) -> nn.Linear:
        """The linear layer alone, which answers as both did."""
        with torch.no_grad():
            for (start, stop), down, up in zip(self.rows, self.down, self.up, strict=True):
                self.linear.weight[start:stop] += self.scale * (up @ down)
        return self.linear


def add(network: nn.Module, rank: int) -> None:
    """Put LoRA on the matrices of queries and values of every layer. Raises NotSupported where there are none."""
    for parent, name, linear in list(_targets(network)):
        third = linear.out_features // 3
        rows = [(0, third), (2 * third, 3 * third)] if name in _FUSED else [(0, linear.out_features)]
        setattr(parent, name, LoRA(linear, rank, rows))
    if not any(isinstance(module, LoRA) for module in network.modules()):
        raise NotSupported(
            "LoRA changes the matrices of queries and values, and none are known in this model. Train all weights, "
            "or the task head alone."
        )


def is_own(name: str) -> bool:
    """Whether a weight of this name is LoRA's own."""
    return ".up." in name or ".down." in name


def merge(network: nn.Module) -> None:
    """Add what LoRA has learned to the matrices themselves."""
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, LoRA):
                setattr(parent, name, child.merged())


def _targets(network: nn.Module) -> Iterator[tuple[nn.Module, str, nn.Linear]]:
    for parent in network.modules():
        for name, child in parent.named_children():
            if name in _QUERY_OR_VALUE | _FUSED and isinstance(child, nn.Linear):
                yield parent, name, child
