"""Attention on demand: run at full speed on the fused kernel, keep only what attention is computed from.

The forward pass of a model with ``attn_implementation=IMPLEMENTATION`` is that of sdpa. Inside ``recording()``
each call also notes its queries, keys and values, without copying them on the CPU: linear memory, no n x n maps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

IMPLEMENTATION = "look_inside"


def of_this_thread(hook: Callable[..., None]) -> Callable[..., None]:
    """A module's hook that acts on the passes of the thread that made it: somebody else's text may pass through the
    same module.
    """
    own_thread = threading.get_ident()

    def guarded(*given: Any) -> None:
        if threading.get_ident() == own_thread:
            hook(*given)

    return guarded


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an attention module; tensors as they were passed, batch first."""

    query: torch.Tensor  # (batch, heads, queries, d)
    key: torch.Tensor  # (batch, key heads, keys, d)
    value: torch.Tensor  # (batch, key heads, keys, d')
    mask: torch.Tensor | None  # (batch, 1 or heads, queries, keys), bool or additive
    position_bias: torch.Tensor | None
    scaling: float
    causal: bool
    output: torch.Tensor | None = None  # (batch, queries, heads, d'): what the fused kernel gives the output projection


# A ContextVar, because threads share one model and must not see each other's calls.
_calls: ContextVar[list[Call] | None] = ContextVar("attention calls", default=None)


@contextmanager
def recording() -> Iterator[list[Call]]:
    """The attention calls this thread makes inside the block, in order."""
    calls: list[Call] = []
    token = _calls.set(calls)
    try:
        yield calls
    finally:
        _calls.reset(token)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    result = sdpa_attention_forward(
        module, query, key, value, attention_mask, scaling=scaling, is_causal=is_causal, **kwargs
    )
    calls = _calls.get()
    if calls is not None:
        # The rule of sdpa_attention_forward: causal only where no mask says otherwise and there is a past to hide.
        causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        causal = causal and attention_mask is None and query.shape[2] > 1
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        calls.append(Call(query, key, value, attention_mask, kwargs.get("position_bias"), scale, causal, result[0]))
    return result


AttentionInterface.register(IMPLEMENTATION, _attend)
# Without a mask function of the same name transformers would drop the padding mask without a word.
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)
