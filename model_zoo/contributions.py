"""How much of what each token leaves a layer as came from each token that entered it, computed from one pass of a text.

What token i takes from token j through all heads is Σ_h α^h_ij f^h(x_j), with f as in ``AttentionRun.value_norms``. It
is added to the residual stream x_i, and in post-norm models put through a norm, which is linear once it is known by
what it divides (Kobayashi et al. 2021).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from model_zoo import running
from model_zoo.anatomy import inside, parts_of
from model_zoo.capture import as_array
from model_zoo.errors import InvalidInput
from model_zoo.fair_queue import give_way
from model_zoo.families.rule import Parts
from model_zoo.loading import LoadedModel
from model_zoo.types import MOST_ZEROED, ContributionMeasure, Encoding, LayerContributions

# Pairs of tokens whose vectors are in memory at a time: what a processor's cache holds, of vectors and of all that a
# feed-forward block makes of them.
_PAIRS_GIVEN = 1024
_PAIRS_ZEROED = 2048

# Squared lengths, as shares of that of the vector a value is taken from, and of the row's largest: what is less than
# both is not run through the layer, but its distance is estimated, see ``questions.contribute``.
_RUN, _RUN_OF_ROW = 1e-5, 1e-3


def contribute(loaded: LoadedModel, encoding: Encoding, measure: ContributionMeasure) -> LayerContributions:
    """The contributions of a text that was encoded before. Raises as ``questions.contribute`` says."""
    parts = parts_of(loaded, "what a token takes from others through a whole layer cannot be computed")
    if measure == "value zeroing" and len(encoding) > MOST_ZEROED:
        raise InvalidInput(
            f"The text has {len(encoding):,} tokens. Value zeroing runs every layer once for each of them, so it takes "
            f"at most {MOST_ZEROED}. Shorten the text, or choose another measure."
        )
    (batch,) = running.attend_batches(loaded, [encoding], states_of=True)
    maps = torch.empty(batch.n_layers, len(encoding), len(encoding))
    with torch.inference_mode():
        for number, map_ in enumerate(maps):
            give_way()
            layer = _Layer.capture(loaded, parts, batch, number)
            map_.copy_(_zeroed(layer) if measure == "value zeroing" else _shares(layer, measure))
    return LayerContributions(encoding=encoding, model=loaded.info, measure=measure, maps=as_array(maps))


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer while a text passes; float32 tensors.

    ``weights`` (n keys, n queries, heads), ``value`` (heads, n, d') and ``output`` (heads, d', width), the output
    projection; ``residual`` and ``after`` (n, width), the residual stream before and after attention is added.
    """

    module: Any
    parts: Parts
    weights: torch.Tensor
    value: torch.Tensor
    output: torch.Tensor
    residual: torch.Tensor
    after: torch.Tensor

    @classmethod
    def capture(cls, loaded: LoadedModel, parts: Parts, batch: running.Batch, number: int) -> _Layer:
        module = inside(loaded.encoder, parts.layer.format(number))
        states, call = batch.states[0], batch.calls[number]
        assert call is not None  # of a family that is known part by part
        value = call.value[0].float()
        projection = loaded.output_projections("encoder")[number]
        assert states is not None
        assert projection is not None
        output = torch.tensor(projection, device=value.device)
        residual = torch.tensor(states.states[number], device=value.device)
        weights = batch.weights(number)[0]
        bias = inside(module, parts.output).bias
        added = (weights @ value).transpose(0, 1).flatten(1) @ output.flatten(0, 1)
        after = residual + added + (0 if bias is None else bias.float())
        return cls(module, parts, weights.permute(2, 1, 0).contiguous(), value, output, residual, after)

    def head_vectors(self, output: torch.Tensor) -> torch.Tensor:
        """What each token gives, before it is weighted, (n, heads, width): f, or what an ``output`` makes of it that is
        put through a norm.
        """
        return (self.value @ output).transpose(0, 1).contiguous()

    def left_as(self, after: torch.Tensor) -> torch.Tensor:
        """What the layer gives for a residual stream behind attention, (..., width), as float32 of length 1."""
        main, fed = self._fed_forward(after)
        left = main + fed if self.parts.pre_norm else self.norms[1](main + fed)
        return torch.nn.functional.normalize(left.float(), dim=-1)

    def passed(self, measure: ContributionMeasure) -> Iterator[tuple[Any, torch.Tensor]]:
        """Norms that a vector passes on its way, as far as it is followed, with the sums (n, width) they are given."""
        if not self.parts.pre_norm:
            yield self.norms[0], self.after
            if measure == "GlobEnc":
                yield self.norms[1], sum(self._fed_forward(self.after)).float()

    @property
    def norms(self) -> tuple[Any, Any]:
        """The norm of attention, and that of the feed-forward block."""
        return inside(self.module, self.parts.attention_norm), inside(self.module, self.parts.feed_forward_norm)

    def _fed_forward(self, after: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The residual stream that the feed-forward block adds to, and what it adds."""
        parts, norms = self.parts, self.norms
        inner_matrix = inside(self.module, parts.inner)
        hidden = after.to(inner_matrix.weight.dtype)
        main = hidden if parts.pre_norm else norms[0](hidden)
        inner = inner_matrix(norms[1](main) if parts.pre_norm else main)
        gate: torch.Tensor | float = 1.0
        if parts.gated:
            inner, gate = inner.chunk(2, dim=-1)
        return main, inside(self.module, parts.outer)(inside(self.module, parts.activation)(inner) * gate)


def _shares(layer: _Layer, measure: ContributionMeasure) -> torch.Tensor:
    """The contributions of a layer as shares, (n, n)."""
    output, own_share, left = layer.output, layer.residual, layer.after
    weights, n = layer.weights, len(own_share)
    for norm, total in layer.passed(measure):
        scale, shift = norm.weight.float(), None if norm.bias is None else norm.bias.float()
        left, _, factor = torch.native_layer_norm(total, total.shape[-1:], scale, shift, norm.eps)
        output, own_share = ((vectors - vectors.mean(dim=-1, keepdim=True)) * scale for vectors in (output, own_share))
        weights, own_share = weights * factor, own_share * factor
    values = layer.head_vectors(output)
    target = left if measure == "ALTI" else torch.zeros_like(left)
    lengths = torch.empty(n, n, device=own_share.device)  # keys, queries
    room = torch.empty(max(1, _PAIRS_GIVEN // n), *own_share.shape, device=own_share.device)
    for first in range(0, n, len(room)):
        keys, block = slice(first, first + len(room)), room[: n - first]
        # What some tokens give to each query, (keys, queries, width), less the target. The residual stream is what a
        # token gives to itself.
        torch.baddbmm(target.expand(len(block), -1, -1), weights[keys], values[keys], beta=-1, out=block)
        block.diagonal(first, 0, 1).add_(own_share[keys].T)
        # In place, which takes half the time of torch's norms.
        torch.sum(block.abs_() if measure == "ALTI" else block.square_(), dim=-1, out=lengths[keys])
    shares = (target.abs().sum(dim=-1) - lengths).clamp(min=0) if measure == "ALTI" else lengths.sqrt()
    return torch.nn.functional.normalize(shares.T, p=1, dim=-1)


def _zeroed(layer: _Layer) -> torch.Tensor:
    """Cosine distances of what tokens leave a layer as (rows) when the value of another is zero (columns), (n, n)."""
    n = len(layer.after)
    zeroed = torch.empty(n, n, device=layer.after.device)
    untouched, values = layer.left_as(layer.after), layer.head_vectors(layer.output)
    step = max(1, _PAIRS_ZEROED // n)
    for rows in (slice(first, first + step) for first in range(0, n, step)):
        taken = torch.bmm(layer.weights[:, rows], values).transpose(0, 1)  # (queries, n keys, width)
        squares = taken.square().sum(dim=-1)
        least = _RUN * layer.after[rows].square().sum(dim=-1, keepdim=True)
        least = least.minimum(_RUN_OF_ROW * squares.amax(dim=-1, keepdim=True))
        query, key = (squares >= least).nonzero(as_tuple=True)
        left = layer.left_as(layer.after[rows][query] - taken[query, key])
        distances = (left - untouched[rows][query]).square().sum(dim=-1) / 2  # 1 - cosine, without its rounding
        ratios = torch.full_like(squares, torch.nan)
        ratios[query, key] = distances / squares[query, key]
        zeroed[rows] = squares * ratios.nanmedian(dim=-1, keepdim=True).values
        zeroed[rows.start + query, key] = distances
    return zeroed
