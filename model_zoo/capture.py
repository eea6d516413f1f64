"""Attention on demand: run at full speed on the fused kernel, keep only what attention is computed from.

The forward pass of a model with ``attn_implementation=IMPLEMENTATION`` is that of sdpa. Inside ``recording()``
each call also notes its queries, keys and values, without copying them on the CPU: linear memory, no n x n maps.
Inside ``editing()`` each call is changed by an editor on its way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from model_zoo.types import FloatArray

IMPLEMENTATION = "look_inside"


@contextmanager
def hooked(
    modules: Iterable[torch.nn.Module], hook: Callable[..., Any], *, before: bool = False, **options: Any
) -> Iterator[None]:
    """Inside the block a hook is called behind modules, or before them, as torch calls one with these options. It acts
    on the passes of this thread alone: somebody else's text may pass through the same module.
    """
    own_thread = threading.get_ident()

    def guarded(*arguments: Any) -> Any:
        return hook(*arguments) if threading.get_ident() == own_thread else None

    with ExitStack() as hooks:
        for module in modules:
            register = module.register_forward_pre_hook if before else module.register_forward_hook
            hooks.callback(register(guarded, **options).remove)
        yield


def as_array(tensor: torch.Tensor) -> FloatArray:
    """float32 on the CPU; shares memory with the tensor where it is that already."""
    return tensor.detach().float().cpu().numpy()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an attention module; tensors as they were passed, batch first."""

    query: torch.Tensor  # (batch, heads, queries, d)
    key: torch.Tensor  # (batch, key heads, keys, d)
    value: torch.Tensor  # (batch, key heads, keys, d')
    scaling: float
    mask: torch.Tensor | None = None  # (batch, 1 or heads, queries, keys), bool or additive
    position_bias: torch.Tensor | None = None
    causal: bool = False
    layer: int | None = None  # the number that the module bears, if any
    output: torch.Tensor | None = None  # (batch, queries, heads, d'): what the fused kernel gives the output projection
    weights: torch.Tensor | None = None  # (batch, heads, queries, keys), where others were put in place of softmax's


# A ContextVar, because threads share one model and must not see each other's calls.
_calls: ContextVar[list[Call] | None] = ContextVar("attention calls", default=None)


@contextmanager
def setting(variable: ContextVar[Any], value: Any) -> Iterator[Any]:
    """Inside the block a variable of this thread has a value."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def recording() -> AbstractContextManager[list[Call]]:
    """The attention calls this thread makes inside the block, in order."""
    return setting(_calls, [])


class Editor(Protocol):
    """An object that changes attention: what it is computed from, which queries may not attend where, its weights, and
    what the output projection is given.
    """

    @property
    def hidden(self) -> torch.Tensor | None: ...

    @property
    def sees_weights(self) -> bool: ...

    def entering(self, call: Call) -> Call: ...

    def weights(self, weights: torch.Tensor) -> torch.Tensor: ...

    def output(self, output: torch.Tensor) -> torch.Tensor: ...


_editors: ContextVar[tuple[Editor, ...]] = ContextVar("who changes attention", default=())


def editing(editor: Editor) -> AbstractContextManager[Any]:
    """Inside the block the attention calls of this thread are changed by an editor, after those outside of it."""
    return setting(_editors, (*_editors.get(), editor))


def weights_edited() -> bool:
    """Whether an editor of this thread is shown the weights of the layer at work, and may change them."""
    return any(editor.sees_weights for editor in _editors.get())


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
    editors = _editors.get()
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    layer = getattr(module, "layer_idx", None)
    call = Call(query, key, value, scale, attention_mask, kwargs.get("position_bias"), causal, layer)
    for editor in editors:
        call = editor.entering(call)
    if weights_edited() or any(editor.hidden is not None for editor in editors):
        call = _unfused(call, editors)
    else:
        result = sdpa_attention_forward(
            module, call.query, call.key, call.value, attention_mask, scaling=scaling, is_causal=is_causal, **kwargs
        )
        call = replace(call, output=result[0])
    for editor in editors:
        call = replace(call, output=editor.output(call.output))
    calls = _calls.get()
    if calls is not None:
        # The rule of sdpa_attention_forward: causal only where no mask says otherwise and there is a past to hide.
        calls.append(replace(call, causal=causal and attention_mask is None and query.shape[2] > 1))
    assert call.output is not None
    return call.output, None


def weights_of(call: Call, hidden: torch.Tensor | None = None) -> torch.Tensor:
    """Attention of a call, float (batch, heads, queries, keys): softmax(q kᵀ · scaling), masks and bias applied, and
    nowhere where ``hidden`` (broadcast to that) is True. A query that may look nowhere gets zeros.
    """
    if call.weights is not None:
        return call.weights
    scores = (call.query @ per_head(call.key, call).transpose(-1, -2)).float() * call.scaling
    if call.position_bias is not None:
        scores += call.position_bias
    if call.mask is None and call.causal:
        scores.masked_fill_(torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1), -torch.inf)
    elif call.mask is not None and call.mask.dtype == torch.bool:
        scores.masked_fill_(~call.mask, -torch.inf)
    elif call.mask is not None:
        scores = scores + call.mask
    if hidden is not None:
        scores = scores.masked_fill(hidden, -torch.inf)
    if call.position_bias is None and hidden is None and (call.mask is None or call.mask.dtype == torch.bool):
        nowhere = torch.zeros((), dtype=torch.bool) if call.mask is None else ~call.mask.any(dim=-1, keepdim=True)
    else:
        nowhere = torch.isneginf(scores.amax(dim=-1, keepdim=True))
    if not nowhere.any():
        return scores.softmax(dim=-1)
    return scores.masked_fill(nowhere, 0.0).softmax(dim=-1).masked_fill(nowhere, 0.0)


def _unfused(call: Call, editors: Sequence[Editor]) -> Call:
    """The call with its output softmax(q kᵀ · scaling) v, (batch, queries, heads, d'), computed step by step, with
    edges cut and weights shown to the editors; it holds those that one of them put in.
    """
    hidden = [editor.hidden for editor in editors if editor.hidden is not None]
    computed = weights = weights_of(call, reduce(torch.logical_or, hidden) if hidden else None)
    for editor in editors:
        weights = editor.weights(weights)
    output = (weights.to(call.value.dtype) @ per_head(call.value, call)).transpose(1, 2)
    return replace(call, output=output, weights=None if weights is computed else weights)


def per_head(states: torch.Tensor, call: Call) -> torch.Tensor:
    """What exists once a key head, for every query head of its group."""
    group = call.query.shape[1] // states.shape[1]
    return states.repeat_interleave(group, dim=1) if group > 1 else states


AttentionInterface.register(IMPLEMENTATION, _attend)
# Without a mask function of the same name transformers would drop the padding mask without a word.
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)
