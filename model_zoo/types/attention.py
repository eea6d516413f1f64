"""One layer's attention, held as what it is computed from or as finished maps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from model_zoo.types.arrays import Array, FloatArray, ReadOnly
from model_zoo.types.wording import counted

ALL = slice(None)


def softmax(scores: Array) -> Array:
    """Softmax over the last axis, stable for scores of -inf; a row of -inf only becomes zeros."""
    highest = scores.max(axis=-1, keepdims=True)
    weights: Array = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=weights, where=total > 0)


def rolled_out(maps: Iterable[npt.NDArray[np.floating]], *, residual: bool = True) -> npt.NDArray[np.float64]:
    """How much of each token that enters the first layer reaches each one that leaves the last, (n, n).

    ``maps`` (n, n) are attention a layer, from the first on. Each is mixed half and half with the identity, for the
    residual stream, its rows scaled to sum 1 before and after, and multiplied on (Abnar & Zuidema 2020). Without
    ``residual`` nothing is mixed in: for contributions, which have the residual stream in them. A row of zeros
    passes its token on.
    """
    reached: npt.NDArray[np.float64] | None = None
    for weights in maps:
        mixed = _rows_to_one(weights.astype(np.float64))
        mixed += np.diag(~mixed.any(axis=-1))
        if residual:
            mixed = _rows_to_one(0.5 * mixed + 0.5 * np.eye(len(mixed)))
        reached = mixed if reached is None else mixed @ reached
    assert reached is not None
    return reached


def _rows_to_one(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    totals = matrix.sum(axis=-1, keepdims=True)
    return np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)


class LayerAttention(Protocol):
    """How one layer's attention is held until somebody looks at it."""

    @property
    def n_heads(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    def weights(self, head: int | slice, queries: slice = ALL) -> FloatArray:
        """Attention of one head (queries, keys), or of a slice of heads (heads, queries, keys); of some queries only,
        without computing the others, where a slice of them is given.
        """
        ...

    def load(self) -> QueryKeyLayer | MapsLayer:
        """The layer with all its arrays, where they are held elsewhere."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryKeyLayer(ReadOnly):
    """A layer's queries, keys and values as they enter attention (after rotary embedding, if any).

    query (heads, n, d), key (key heads, m, d), value (key heads, m, d'): grouped-query models have fewer key
    heads than heads; m is n except in cross-attention. ``mask`` is None, bool (..., n, m) with True for "may look",
    or float (..., n, m) added to the scores; where it has a head axis that is 1 or heads long. ``causal`` hides the
    keys after a query.
    """

    query: FloatArray
    key: FloatArray
    value: FloatArray
    scaling: float
    mask: npt.NDArray[np.bool_] | FloatArray | None = None
    causal: bool = False

    def __repr__(self) -> str:
        return f"<QueryKeyLayer {counted(self.n_heads, 'head')}, query {self.query.shape}, key {self.key.shape}>"

    @property
    def n_heads(self) -> int:
        return len(self.query)

    @property
    def n_bytes(self) -> int:
        return self.query.nbytes + self.key.nbytes + self.value.nbytes

    def repeat_per_head(self, per_key_head: FloatArray) -> FloatArray:
        """Repeat what exists once a key head for every query head of its group: (heads, ...)."""
        group = self.n_heads // len(per_key_head)
        return per_key_head if group == 1 else np.repeat(per_key_head, group, axis=0)

    def scores(self, head: int | slice, queries: slice = ALL) -> FloatArray:
        """(queries, keys) of a head or (heads, queries, keys) of a slice, float32: q·k times the scale, mask and
        position bias added (-inf where a query may not look); the logits whose softmax is ``weights``.
        """
        key = self.repeat_per_head(self.key)[head]
        scores: FloatArray = (self.query[head][..., queries, :] @ key.swapaxes(-1, -2)) * np.float32(self.scaling)
        n_queries, n_keys = self.query.shape[-2], self.key.shape[-2]
        if self.causal:
            hidden = np.triu(np.ones((n_queries, n_keys), dtype=bool), k=1 + n_keys - n_queries)[queries]
            scores[..., hidden] = -np.inf
        if self.mask is not None:
            mask = np.broadcast_to(self.mask, (self.n_heads, n_queries, n_keys))[head][..., queries, :]
            if mask.dtype == np.bool_:
                scores[~mask.astype(np.bool_, copy=False)] = -np.inf
            else:
                scores += mask.astype(np.float32, copy=False)
        return scores

    def weights(self, head: int | slice, queries: slice = ALL) -> FloatArray:
        """(queries, keys) of a head or (heads, queries, keys) of a slice, float32; rows sum to 1."""
        return softmax(self.scores(head, queries))

    def load(self) -> QueryKeyLayer:
        return self

    def select_head(self, head: int | None, *, values: bool) -> QueryKeyLayer:
        """The same layer with one head only, or with all; without ``values`` they have no entries (heads, m, 0)."""
        value = self.value if values else self.value[:, :, :0]
        if head is None:
            return replace(self, value=value)
        group = head // (self.n_heads // len(self.key))
        mask: npt.NDArray[Any] | None = self.mask
        if mask is not None and mask.ndim > 2:  # a mask of one sentence may have an axis of heads
            mask = np.broadcast_to(mask, (self.n_heads, *mask.shape[-2:]))[head : head + 1]
        return replace(
            self,
            query=self.query[head : head + 1],
            key=self.key[group : group + 1],
            value=value[group : group + 1],
            mask=mask,
        )


@dataclass(frozen=True, slots=True)
class MapsLayer(ReadOnly):
    """A layer's finished attention maps (heads, queries, keys), for architectures that give nothing else."""

    maps: FloatArray

    def __repr__(self) -> str:
        return f"<MapsLayer {counted(self.n_heads, 'head')}, maps {self.maps.shape}>"

    @property
    def n_heads(self) -> int:
        return len(self.maps)

    @property
    def n_bytes(self) -> int:
        return self.maps.nbytes

    def weights(self, head: int | slice, queries: slice = ALL) -> FloatArray:
        """(queries, keys) of a head or (heads, queries, keys) of a slice, float32, as the network gave them."""
        return self.maps[head][..., queries, :]

    def load(self) -> MapsLayer:
        return self

    def select_head(self, head: int | None, *, values: bool) -> MapsLayer:  # noqa: ARG002 (there are none)
        """The same layer with one head only, or with all."""
        return self if head is None else replace(self, maps=self.maps[head : head + 1])
