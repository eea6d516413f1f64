"""Attention on demand for families outside the fused kernel: their own code runs, and what attention is made from is
captured on the way.

While a text passes, the results of functions that are given a projection's weight are noted: queries, keys and values,
whether a module or an einsum makes them. What DeBERTa and XLNet add to q·k (relative positions, segments) depends on
the text: it is what their softmax is given, less q·k. A family's file in ``families`` names its weights and puts
together what was captured; what several of them share is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from model_zoo.capture import Call, weights_edited


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What one layer has computed when it comes to softmax.

    ``query``, ``key`` and ``value`` are as projected, in the family's own shapes; so are ``scores``, what softmax is
    given. ``n_tokens`` are those of the longest text; the family may have padded beyond. ``position_bias`` (1, heads,
    n, n) is the same for all layers, None where the family has none. What else layers share is kept in ``shared``.
    """

    attention: Any
    n_heads: int
    n_tokens: int
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    scores: torch.Tensor
    position_bias: torch.Tensor | None
    shared: dict[int, torch.Tensor]

    @property
    def states(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, keys and values."""
        return self.query, self.key, self.value


def split_heads(states: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(batch, n, heads * d) as (batch, heads, n, d)."""
    return states.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def call_with_rest(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float, scores: torch.Tensor | None
) -> Call:
    """A call whose position bias is what the scores (batch, heads, n, n) hold beside q·k; none without scores."""
    if scores is None:
        return Call(query, key, value, scaling)
    rest = scores.float() - (query.float() @ key.float().transpose(-1, -2)) * scaling
    return Call(query, key, value, scaling, position_bias=rest)


def plain_call(captured: Captured) -> Call:
    """Projections as (batch, n, width), scores divided by √d, a bias that all layers share if there is one."""
    query, key, value = (split_heads(states, captured.n_heads) for states in captured.states)
    return Call(query, key, value, query.shape[-1] ** -0.5, position_bias=captured.position_bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projections:
    """Where a family projects: names of weights in the encoder's submodule ``path``, {} being the layer's number.

    Without other names they are BERT's. ``call`` puts together what a layer has computed. ``position_bias`` names the
    table of a bias that all layers share.
    """

    path: str = "encoder.layer.{}.attention"
    query: str = "self.query.weight"
    key: str = "self.key.weight"
    value: str = "self.value.weight"
    output: str = "output.dense.weight"
    call: Callable[[Captured], Call] = plain_call
    position_bias: str | None = None

    def layers(self, encoder: Any) -> list[Any]:
        """The submodule of each layer."""
        return [encoder.get_submodule(self.path.format(layer)) for layer in range(encoder.config.num_hidden_layers)]

    def output_weights(self, encoder: Any) -> list[torch.Tensor]:
        """The weight of each layer's output projection."""
        return [_weight(layer, self.output) for layer in self.layers(encoder)]

    def output_matrices(self, encoder: Any) -> Iterator[torch.Tensor]:
        """W_O of each layer, (heads, d', width)."""
        for matrix in self.output_weights(encoder):
            weight = matrix.flatten(1)  # (width, heads * d' / groups)
            groups = len(weight) // weight.shape[1]  # it is square but for SqueezeBERT's groups
            dense = weight if groups == 1 else torch.block_diag(*weight.chunk(groups))
            yield dense.T.reshape(encoder.config.num_attention_heads, -1, len(weight))


def _weight(module: Any, name: str) -> torch.Tensor:
    path, _, last = name.rpartition(".")
    return getattr(module.get_submodule(path), last)


class _Watch(TorchFunctionMode):
    """Tells of every result of a function that is given one of the ``weights``, and of what softmax is given and gives.

    A mode belongs to its thread: other texts that pass through the same network at the same time are not seen.
    """

    def __init__(
        self,
        weights: Mapping[int, Callable[[torch.Tensor], object]],
        softmax: Callable[[torch.Tensor, torch.Tensor], None],
    ) -> None:
        super().__init__()
        self._weights, self._softmax = weights, softmax

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.nn.functional.softmax:
            self._softmax(args[0], result)
        if isinstance(result, torch.Tensor):
            for argument in args:
                if id(argument) in self._weights:
                    self._weights[id(argument)](result)
        return result


@contextmanager
def recording(encoder: Any, projections: Projections, n_tokens: int) -> Iterator[list[Call]]:
    """The attention calls this thread makes inside the block, in order, as they would be made to the fused kernel.

    Padding is not masked: who reads the calls cuts it off. ``n_tokens`` are those of the longest text.
    """
    calls: list[Call] = []
    layers = projections.layers(encoder)
    weights = [[_weight(layer, getattr(projections, name)) for name in ("query", "key", "value")] for layer in layers]
    results: dict[int, torch.Tensor] = {}  # of the layer at work, by weight
    position_bias: list[torch.Tensor] = []
    shared: dict[int, torch.Tensor] = {}

    def keep_bias(of_places: torch.Tensor) -> None:  # (n, n, heads)
        position_bias.append(of_places.permute(2, 0, 1)[None])

    def put_together(scores: torch.Tensor, attention: torch.Tensor) -> None:
        layer = len(calls)
        query, key, value = (results[id(weight)] for weight in weights[layer])
        results.clear()
        captured = Captured(
            attention=layers[layer],
            n_heads=encoder.config.num_attention_heads,
            n_tokens=n_tokens,
            query=query,
            key=key,
            value=value,
            scores=scores,
            position_bias=position_bias[0] if position_bias else None,
            shared=shared,
        )
        call = projections.call(captured)
        edited = attention[..., :n_tokens, :n_tokens] if weights_edited() else None
        calls.append(replace(call, weights=edited))

    # A weight's first result counts: DeBERTa projects positions after the tokens with the same ones.
    watched: dict[int, Callable[[torch.Tensor], object]] = {
        id(weight): partial(results.setdefault, id(weight)) for layer in weights for weight in layer
    }
    if projections.position_bias is not None:
        watched[id(_weight(encoder, projections.position_bias))] = keep_bias
    with _Watch(watched, put_together):
        yield calls
