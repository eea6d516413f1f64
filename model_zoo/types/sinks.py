"""What every head does with the special tokens of a text: how much it looks at them, and what that adds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from model_zoo.types.arrays import FloatArray, ReadOnly
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import DataFrame, Shows, table
from model_zoo.types.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Sinks(ReadOnly, Shows):
    """The special tokens of a text, as every head of a model looks at them from the ordinary tokens.

    ``places`` are the k special tokens, from 0; the first token in a text without any. All other tokens are ordinary:
    they are the queries i that are measured. α_ij is the attention of a head, f(x_j) the value of token j after the
    head's part of the output projection (Kobayashi et al. 2020), and the stream is what enters the layer, to which
    attention adds. Float32; nan for heads that a layer does not have:

    - ``share`` (layers, heads, k): mean of α_is over the queries; ``even`` (layers, k): what a head would give that
      spreads its attention evenly over what each query may see.
    - ``value`` (layers, heads, k): ‖f(x_s)‖; ``ordinary_value`` (layers, heads): its mean over the ordinary tokens.
    - ``stream`` (layers,): mean length of the vectors of the ordinary tokens that enter the layer.
    - ``added`` (layers, heads, k): mean of ‖α_is f(x_s)‖, as a share of ``stream``.
    - ``update`` (layers, heads): mean length of the head's whole update u_i = Σ_j α_ij f(x_j), as a share of
      ``stream``; ``common``: how much of it all queries share, ‖mean of u‖² / mean of ‖u‖², from 0 (it cancels out) to
      1 (the same for all); ``rank``: its effective rank, e to the entropy of the shares of the squared singular values
      of the u_i, from 1 to as many as there are queries (after Roy & Vetterli 2007, who take shares of the singular
      values themselves; squares are shares of the update's energy). Both are nan for a head that adds nothing at all.
    """

    encoding: Encoding
    model: ModelInfo
    places: tuple[int, ...]
    share: FloatArray = field(repr=False)
    even: FloatArray = field(repr=False)
    value: FloatArray = field(repr=False)
    ordinary_value: FloatArray = field(repr=False)
    stream: FloatArray = field(repr=False)
    added: FloatArray = field(repr=False)
    update: FloatArray = field(repr=False)
    common: FloatArray = field(repr=False)
    rank: FloatArray = field(repr=False)

    def __repr__(self) -> str:
        layers, heads, k = self.share.shape
        sizes = f"{counted(layers, 'layer')} × {counted(heads, 'head')} × {counted(k, 'token')}"
        return f"<Sinks {self.model.id}: {sizes}, {self.encoding.summary()}>"

    def to_frame(self) -> DataFrame:
        """One row a head and special token: layer, head, place, token, and the numbers of both by their names here.
        ``analysis.sinks.frame`` adds what the rule says.
        """
        layer, head, token = of_token = np.nonzero(np.isfinite(self.share))
        return table(
            {
                "layer": layer,
                "head": head,
                "place": np.array(self.places)[token],
                "token": np.array(self.tokens, dtype=object)[token],
                "share": self.share[of_token],
                "even": self.even[layer, token],
                "value": self.value[of_token],
                "ordinary_value": self.ordinary_value[layer, head],
                "added": self.added[of_token],
                "update": self.update[layer, head],
                "common": self.common[layer, head],
                "rank": self.rank[layer, head],
            }
        )

    @property
    def tokens(self) -> tuple[str, ...]:
        """The k special tokens, or the first token, as the model writes them."""
        return tuple(self.encoding.tokens[place] for place in self.places)

    @property
    def n_queries(self) -> int:
        """The number of ordinary tokens."""
        return len(self.encoding) - len(self.places)
