"""One forward pass of a text: its tokens, every layer's attention, and the tables made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types.arrays import OF_THE_MODEL, FloatArray, ReadOnly, read_only
from model_zoo.types.attention import ALL, LayerAttention, QueryKeyLayer
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import DataFrame, Shows, table
from model_zoo.types.states import HiddenStates
from model_zoo.types.wording import check_range, counted

# Whose attention: a model of one stack (BERT, GPT-2) has the first alone. "cross" is how the decoder looks at what
# the encoder has read.
Stack = Literal["encoder", "decoder", "cross"]
STACKS: tuple[Stack, ...] = get_args(Stack)

# Tokens whose transformed values are in memory at a time: 64 x 16 heads x 1024 numbers are 8 MB in float64.
_KEYS_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionRun(ReadOnly, Shows):
    """One forward pass: the tokens, and for every layer what its attention is computed from.

    A head's matrix is computed when it is asked for, so memory grows linearly with the number of tokens; only where the
    position bias depends on the text (DeBERTa, XLNet) is a bias of n x n a head held.

    ``encoding`` holds the n query tokens. With a ``stack`` other than "encoder" they are the decoder's, and ``source``
    is what the encoder has read; in cross-attention its tokens are the m keys, everywhere else m is n.
    ``output_projections`` holds per layer W_O (heads, d', width), each head's rows of the output projection, without
    its bias; None where the projection could not be found. They are weights of the model, and may be its own memory:
    every run of a model holds the same ones, ``n_bytes`` does not count them, and a pickled run leaves them out,
    because they are often many times larger than the rest. ``with_output_projections`` gives them back. ``states`` are
    the vectors of the same pass, where they were asked for (else ``hidden_states`` is None).
    """

    encoding: Encoding
    model: ModelInfo
    layers: tuple[LayerAttention, ...]
    output_projections: tuple[FloatArray | None, ...] = field(default=(), repr=False, metadata={OF_THE_MODEL: True})
    stack: Stack = "encoder"
    source: Encoding | None = None
    hidden_states: HiddenStates | None = None

    def __post_init__(self) -> None:
        if (self.source is None) != (self.stack == "encoder"):
            raise ValueError("a decoder's attention comes with what the encoder has read, an encoder's without")
        locked = tuple(weight if weight is None else read_only(weight) for weight in self.output_projections)
        object.__setattr__(self, "output_projections", locked)

    def __repr__(self) -> str:
        stack = "" if self.stack == "encoder" else f", {self.stack}"
        source = "" if self.source is None else f", encoder read {self.source.summary()}"
        sizes = f"{counted(self.n_layers, 'layer')} × {counted(self.n_heads, 'head')}"
        return f"<AttentionRun {self.model.id}{stack}: {sizes}, {self.encoding.summary()}{source}>"

    def with_output_projections(self, projections: Sequence[FloatArray | None]) -> AttentionRun:
        """The same run with the model's output projections, as ``Engine.output_projections`` gives them."""
        return replace(self, output_projections=tuple(projections))

    @property
    def key_encoding(self) -> Encoding:
        """The m key tokens: ``encoding`` itself, except in cross-attention."""
        return self.source if self.stack == "cross" and self.source is not None else self.encoding

    @property
    def n_layers(self) -> int:
        return len(self.layers)

    @property
    def layers_with_attention(self) -> tuple[int, ...]:
        """The numbers of the layers that have heads: all of them, but in networks of several kinds of layers."""
        return tuple(number for number, layer in enumerate(self.layers) if layer.n_heads)

    @property
    def n_heads(self) -> int:
        """The number of heads in the widest layer (all layers of the models in the registry have the same)."""
        return max(layer.n_heads for layer in self.layers)

    @property
    def n_tokens(self) -> int:
        """The number of query tokens (n)."""
        return len(self.encoding)

    @property
    def n_keys(self) -> int:
        """The number of key tokens (m): as many as ``n_tokens``, except in cross-attention."""
        return len(self.key_encoding)

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays this run holds; a mask that layers share counts once, the model's own weights do not
        count.
        """
        layer_masks = (getattr(layer, "mask", None) for layer in self.layers)
        masks = {mask.__array_interface__["data"]: mask.nbytes for mask in layer_masks if mask is not None}
        states = 0 if self.hidden_states is None else self.hidden_states.n_bytes
        return sum(layer.n_bytes for layer in self.layers) + sum(masks.values()) + states

    @property
    def states(self) -> HiddenStates:
        """The vectors of the same pass. Raises InvalidInput where the run was made without them."""
        if self.hidden_states is None:
            raise InvalidInput(
                "This run was made without its hidden states. Ask for them, too: attend(model, text, states=True)."
            )
        return self.hidden_states

    def _layer(self, layer: int) -> LayerAttention:
        check_range(self.model.id, "layer", layer, self.n_layers)
        return self.layers[layer]

    def heads_of(self, layer: int) -> int:
        """The number of heads in a layer. Raises InvalidInput for one that does not exist or has no attention."""
        return self._head(layer, 0).n_heads

    def _head(self, layer: int, head: int) -> LayerAttention:
        of_layer = self._layer(layer)
        if not of_layer.n_heads:
            others = ", ".join(str(number) for number, other in enumerate(self.layers) if other.n_heads)
            raise InvalidInput(
                f"Layer {layer} of {self.model.id}, counted from 0, has no attention. Those that have: {others}."
            )
        check_range(self.model.id, "head", head, of_layer.n_heads)
        return of_layer

    def head(self, layer: int, head: int) -> FloatArray:
        """Attention of one head, float32 (n, m): row i says how query token i divides its attention."""
        return read_only(self._head(layer, head).weights(head))

    def layer(self, layer: int, queries: slice = ALL) -> FloatArray:
        """Attention of all heads of a layer, float32 (heads, n, m).

        Where a slice of the ``queries`` is given, only their rows are computed: (heads, queries, m).
        """
        return read_only(self._layer(layer).weights(ALL, queries))

    def _query_key_layer(self, layer: int, head: int) -> QueryKeyLayer:
        captured = self._head(layer, head).load()
        if not isinstance(captured, QueryKeyLayer):
            raise NotSupported(
                f"{self.model.id} ({self.model.family}) gives finished attention maps only, "
                "not its queries and keys. "
                "Its attention can be shown; choose another model to look at single queries and keys."
            )
        return captured

    def query_key(self, layer: int, head: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q (n, d), k (m, d) and scores (n, m): q·k scaled, masked, before softmax (Vaswani et al. 2017, eq. 1).

        Raises NotSupported where a model cannot give them.
        """
        captured = self._query_key_layer(layer, head)
        return (
            captured.query[head],
            read_only(captured.repeat_per_head(captured.key)[head]),
            read_only(captured.scores(head)),
        )

    def value(self, layer: int, head: int) -> FloatArray:
        """The value vectors v (m, d') of one head. Raises NotSupported as ``query_key`` does."""
        captured = self._query_key_layer(layer, head)
        return read_only(captured.repeat_per_head(captured.value)[head])

    def value_norms(self, layer: int) -> FloatArray:
        """‖f(x_j)‖ (heads, m): the length of each token's value after the head's slice of the output projection.

        f(x) = (x W_V + b_V) W_O as in Kobayashi et al. 2020; value-weighted attention is ‖α f(x)‖ = α · ‖f(x)‖. Raises
        NotSupported where values or the output projection are not available.
        """
        captured, projection = self.value_layer(layer)
        values = captured.repeat_per_head(captured.value)
        norms = [np.linalg.norm(values[head] @ projection[head], axis=-1) for head in range(captured.n_heads)]
        return read_only(np.stack(norms).astype(np.float32, copy=False))

    def norms_of_sum(self, layer: int, heads: Sequence[int] | None = None) -> FloatArray:
        """‖Σ_h α^h_ij f^h(x_j)‖ (n, m): the length of all that query i takes from token j, the heads' vectors added up.

        This is the norm-based analysis of a whole layer in Kobayashi et al. 2020 (there for multi-head attention), with
        f as in ``value_norms``, in the units of the layer's output. Heads that oppose each other cancel out, so it is
        at most the sum over heads of α · ‖f(x)‖. The bias b_O of the output projection belongs to no token and is left
        out; Σ_j Σ_h α^h_ij f^h(x_j) + b_O is what attention adds to token i. ``heads`` (from 0) are those added up,
        each of them once; without it, all heads of the layer. Raises InvalidInput for a layer or a head that does not
        exist or where no head is chosen, and NotSupported as ``value_norms`` does.
        """
        captured, projection = self.value_layer(layer)
        chosen = range(captured.n_heads) if heads is None else sorted(set(heads))
        if not chosen:
            raise InvalidInput("No head is chosen. Choose at least one.")
        for head in chosen:
            self._head(layer, head)
        places = list(chosen)
        weights = captured.weights(slice(None))[places]  # (heads, n, m)
        values, projection = captured.repeat_per_head(captured.value)[places], projection[places]
        norms = np.empty((self.n_tokens, self.n_keys), dtype=np.float32)
        for start in range(0, self.n_keys, _KEYS_AT_ONCE):
            keys = slice(start, start + _KEYS_AT_ONCE)
            # ‖Σ_h α_h f_h‖² = αᵀ G α with G = f fᵀ (keys, heads, heads). In float64, since what nearly cancels out
            # would be lost in the rounding of squares.
            transformed = (values[:, keys] @ projection).swapaxes(0, 1).astype(np.float64)  # (keys, heads, width)
            gram = transformed @ transformed.swapaxes(-1, -2)
            shares = weights[:, :, keys].transpose(2, 1, 0).astype(np.float64)  # (keys, n, heads)
            squares = ((shares @ gram) * shares).sum(axis=-1)
            norms[:, keys] = np.sqrt(np.maximum(squares, 0)).T
        return read_only(norms)

    def value_layer(self, layer: int) -> tuple[QueryKeyLayer, FloatArray]:
        """A layer with its values, and its output projection (heads, d', width). Raises as ``value_norms``."""
        captured = self._query_key_layer(layer, 0)
        projection = self.output_projections[layer] if layer < len(self.output_projections) else None
        if not self.output_projections:
            raise NotSupported(
                f"The output projection of {self.model.id} was left behind when this run was pickled, so its attention "
                "cannot be weighted by value norms. Give it back with with_output_projections, or look at the plain "
                "attention weights instead."
            )
        if projection is None:
            raise NotSupported(
                f"The output projection of {self.model.id} ({self.model.family}) was not found, "
                "so its attention cannot be weighted by value norms. Look at the plain attention weights instead."
            )
        return captured, projection

    def _chosen(
        self, layer: int | Sequence[int] | None, head: int | Sequence[int] | None
    ) -> list[tuple[int, list[int]]]:
        """Layers, each with those of the chosen heads; None is all there are. Raises InvalidInput as ``head`` does."""
        layers = _as_list(layer, range(self.n_layers))
        chosen = [(index, _as_list(head, range(self._layer(index).n_heads))) for index in layers]
        for index, heads in chosen:
            for number in heads:
                self._head(index, number)
        return chosen

    def to_frame(self, layer: int | Sequence[int] | None = None, head: int | Sequence[int] | None = None) -> DataFrame:
        """Attention as a table, one row a layer, head, query and key, in this order.

        Columns: layer, head, query, key (all from 0), query_token, key_token, weight (float32). ``layer`` and ``head``
        choose one or some of them; all of them are layers · heads · n · m rows. Raises InvalidInput for those that do
        not exist.
        """
        chosen = self._chosen(layer, head)
        shape = self.n_tokens, self.n_keys
        pairs = np.array(
            [(layer_number, number) for layer_number, heads in chosen for number in heads], dtype=np.int64
        ).reshape(-1, 2)
        places = np.indices((len(pairs), *shape)).reshape(3, -1)
        weights = [self.layer(layer_number)[heads].reshape(-1) for layer_number, heads in chosen]
        return table(
            {
                "layer": pairs[places[0], 0],
                "head": pairs[places[0], 1],
                "query": places[1],
                "key": places[2],
                "query_token": np.array(self.encoding.tokens, dtype=object)[places[1]],
                "key_token": np.array(self.key_encoding.tokens, dtype=object)[places[2]],
                "weight": np.concatenate([np.empty(0, dtype=np.float32), *weights]),
            }
        )

    def to_xarray(self, layer: int | Sequence[int] | None = None, head: int | Sequence[int] | None = None) -> Any:
        """Attention as an ``xarray.DataArray`` with the dimensions layer, head, query, key, all counted from 0.

        The tokens are coordinates (query_token, key_token), and what ran is in ``attrs``. ``layer`` and ``head`` choose
        as in ``to_frame``; a layer with fewer heads than others has nan for those it lacks. Raises NotSupported where
        the package xarray is not installed, which nothing else here needs.
        """
        try:
            import xarray
        except ImportError as error:
            raise NotSupported(
                "to_xarray needs the package xarray, which is not installed. "
                "Install it (pip install xarray), or use to_frame, which needs pandas only."
            ) from error
        chosen = self._chosen(layer, head)
        heads = list(dict.fromkeys(number for _, of_layer in chosen for number in of_layer))
        weights = np.full((len(chosen), len(heads), self.n_tokens, self.n_keys), np.nan, dtype=np.float32)
        for place, (layer_index, of_layer) in enumerate(chosen):
            weights[place, [heads.index(number) for number in of_layer]] = self.layer(layer_index)[of_layer]
        return xarray.DataArray(
            weights,
            dims=("layer", "head", "query", "key"),
            coords={
                "layer": [layer_index for layer_index, _ in chosen],
                "head": heads,
                "query": range(self.n_tokens),
                "key": range(self.n_keys),
                "query_token": ("query", list(self.encoding.tokens)),
                "key_token": ("key", list(self.key_encoding.tokens)),
            },
            name="attention",
            attrs={
                "model": self.model.id,
                "revision": self.model.revision,
                "dtype": self.model.dtype,
                "stack": self.stack,
                "text": self.encoding.text,
                "text_pair": self.encoding.text_pair or "",
            },
        )


def _as_list(chosen: int | Sequence[int] | None, every: Sequence[int]) -> list[int]:
    if chosen is None:
        return list(every)
    return [int(chosen)] if isinstance(chosen, int | np.integer) else [int(number) for number in chosen]
