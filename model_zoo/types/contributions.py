"""How much of every token's new vector came from each token, layer by layer, all heads of a layer together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, get_args

import numpy as np

from model_zoo.types.arrays import FloatArray, ReadOnly, read_only
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import DataFrame, Shows, table
from model_zoo.types.wording import counted

ContributionMeasure = Literal["ALTI", "norm", "GlobEnc", "value zeroing"]
"""What is measured of a layer:

- "norm": the length of what a token gives another through attention, residual stream and norm (Kobayashi et al. 2021).
- "ALTI": how much nearer the vector behind that norm is to zero without it, in L1 (Ferrando et al. 2022).
- "GlobEnc": as "norm", through the norm behind the feed-forward block, too, whose own output is left out (Modarressi et
  al. 2022). A model with its norms before its blocks has none to pass, so that it is "norm" there.
- "value zeroing": 1 less the cosine between what a token leaves the layer as, and what it would leave it as if the
  value of another were zero in all heads of the layer (Mohebbi et al. 2023).
"""
CONTRIBUTION_MEASURES: Final[tuple[ContributionMeasure, ...]] = get_args(ContributionMeasure)

MOST_ZEROED: Final = 256
"""Tokens up to which values are zeroed one by one: the work grows with their square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerContributions(ReadOnly, Shows):
    """``maps`` float32 (layers, n, n): row i says how much of what token i leaves a layer as came from each token that
    entered it.

    Rows sum to 1, the residual stream counted with the token itself, but for "value zeroing": there each number is a
    cosine distance, from 0 to 2. Biases belong to no token.
    """

    encoding: Encoding
    model: ModelInfo
    measure: ContributionMeasure
    maps: FloatArray = field(repr=False)

    def __repr__(self) -> str:
        layers = counted(self.n_layers, "layer")
        return f"<LayerContributions {self.model.id}, {self.measure}: {layers}, {self.encoding.summary()}>"

    @property
    def n_layers(self) -> int:
        return len(self.maps)

    def layer(self, layer: int) -> FloatArray:
        """A layer's one map, (1, n, n): all heads together."""
        return read_only(self.maps[layer : layer + 1])

    def to_frame(self) -> DataFrame:
        """One row a layer, query and key: layer, query, key, query_token, key_token, contribution (float32)."""
        layer, query, key = np.indices(self.maps.shape).reshape(3, -1)
        tokens = np.array(self.encoding.tokens, dtype=object)
        return table(
            {
                "layer": layer,
                "query": query,
                "key": key,
                "query_token": tokens[query],
                "key_token": tokens[key],
                "contribution": self.maps.reshape(-1),
            }
        )
