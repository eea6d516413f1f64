"""Maps of a text: attention weights, value-weighted norms, or what tokens take from each other in a layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from model_zoo.types import AttentionRun, ContributionMeasure, Encoding, FloatArray, LayerContributions, check_range

OfHeads = Literal["weights", "value-weighted"]
Measure = OfHeads | ContributionMeasure
"""By the names that they have in addresses and in files: what each head has, and what a layer has, all of its heads
together.
"""
OF_HEADS: tuple[Measure, ...] = get_args(OfHeads)


@dataclass(frozen=True, slots=True)
class Weights:
    """Attention weights α: how each head divides the attention of a query.

    ``shares`` says that a row sums to 1, ``of_block`` that the maps are of a whole layer, which rollout multiplies as
    they are: with no half mixed in for the residual stream. ``key_encoding`` are the tokens looked at, which are those
    of ``encoding`` but in cross-attention.
    """

    measure: ClassVar[Measure] = "weights"
    shares: ClassVar[bool] = True
    of_block: ClassVar[bool] = False
    run: AttentionRun

    @property
    def encoding(self) -> Encoding:
        return self.run.encoding

    @property
    def key_encoding(self) -> Encoding:
        return self.run.key_encoding

    @property
    def n_layers(self) -> int:
        return self.run.n_layers

    def n_maps(self, layer: int) -> int:
        return self.run.layers[layer].n_heads

    def layer(self, layer: int) -> FloatArray:
        """(heads, queries, keys), float32; layers count from 0."""
        return self.run.layer(layer)

    def map(self, layer: int, number: int) -> FloatArray:
        """(queries, keys) of one head, float32; both count from 0. Raises InvalidInput for one that does not exist."""
        return self.run.head(layer, number)


@dataclass(frozen=True, slots=True)
class Norms(Weights):
    """‖α f(x)‖ = α · ‖f(x)‖ (Kobayashi et al. 2020): the length of what a head passes on, in the units of its layer.

    Raises NotSupported where value norms are not available.
    """

    measure: ClassVar[Measure] = "value-weighted"
    shares: ClassVar[bool] = False

    def layer(self, layer: int) -> FloatArray:
        """(heads, queries, keys), float32, each weight times the norm (heads, keys) of its key's f(x)."""
        return self.run.layer(layer) * self.run.value_norms(layer)[:, None, :]

    def map(self, layer: int, number: int) -> FloatArray:
        """(queries, keys) of one head, float32."""
        return self.run.head(layer, number) * self.run.value_norms(layer)[number]


@dataclass(frozen=True, slots=True)
class ContributionView:
    """What each token gives to each other's new vector, or how far that turns without it: a map a layer."""

    of_block: ClassVar[bool] = True
    contributions: LayerContributions

    @property
    def measure(self) -> Measure:
        return self.contributions.measure

    @property
    def shares(self) -> bool:
        return self.contributions.measure != "value zeroing"

    @property
    def encoding(self) -> Encoding:
        return self.contributions.encoding

    @property
    def key_encoding(self) -> Encoding:
        return self.contributions.encoding

    @property
    def n_layers(self) -> int:
        return self.contributions.n_layers

    def n_maps(self, layer: int) -> int:  # noqa: ARG002 (each layer has one)
        return 1

    def layer(self, layer: int) -> FloatArray:
        """(1, tokens, tokens), float32: row i has what each token gives to the new vector of token i."""
        return self.contributions.layer(layer)

    def map(self, layer: int, number: int) -> FloatArray:
        """(tokens, tokens), float32. Raises InvalidInput unless ``number`` is 0 and the layer exists."""
        check_range("The model", "layer", layer, self.n_layers)
        check_range("A layer", "map", number, 1)
        return self.contributions.maps[layer]


AttentionView = Weights | ContributionView
"""Maps of every layer, float32, whose rows are queries: one of each head, or one of all heads together (number 0)."""


def mean_of_all(view: AttentionView) -> FloatArray:
    """The mean of all maps there are, float32 (n, m); those of a layer are in memory at a time."""
    total = sum(view.layer(layer).sum(axis=0, dtype=np.float64) for layer in range(view.n_layers))
    return np.asarray(total / len(all_maps(view)), dtype=np.float32)


def maps_of_layer(view: AttentionView, layer: int) -> list[tuple[int, int]]:
    """All maps of a layer (layer, number), from 0, in their order."""
    return [(layer, number) for number in range(view.n_maps(layer))]


def all_maps(view: AttentionView) -> list[tuple[int, int]]:
    """All maps there are (layer, number), from 0, in their order."""
    return [place for layer in range(view.n_layers) for place in maps_of_layer(view, layer)]
