"""A text's vectors after the embeddings and after every layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model_zoo.types.arrays import FloatArray, ReadOnly
from model_zoo.types.encoding import Encoding
from model_zoo.types.shows import DataFrame, Shows, table
from model_zoo.types.wording import counted


@dataclass(frozen=True, slots=True)
class HiddenStates(ReadOnly, Shows):
    """One text's vectors after the embeddings and after every layer: float32 (layers + 1, n, width).

    ``layers`` says where each is from: 0 is after the embeddings, k after the k-th layer. Where only some were asked
    for, there are as many states as layers named. The last layer's states are the encoder's output. Where a norm
    follows the last layer (GPT-2, ModernBERT, T5), they have passed through it and those before have not;
    ``last_unnormed`` (n, width) is the last layer's output before that norm, for comparing one layer with the next.
    None for models without such a norm (BERT).

    ``published_limit`` is the number of tokens at which the files of a checkpoint of sentence-transformers cut a text
    (``max_seq_length``), where more were read: vectors of sentences are not the published ones then. Else None.
    """

    encoding: Encoding
    states: FloatArray
    layers: tuple[int, ...] = ()
    last_unnormed: FloatArray | None = None
    published_limit: int | None = None

    def __post_init__(self) -> None:
        if self.states.ndim != 3 or self.states.shape[1] != len(self.encoding):
            raise ValueError(f"states are (layers + 1, {len(self.encoding)}, width); got {self.states.shape}")
        if not self.layers:
            object.__setattr__(self, "layers", tuple(range(len(self.states))))
        if len(self.layers) != len(self.states):
            raise ValueError(f"{len(self.states)} states cannot be those of {len(self.layers)} layers")
        if self.last_unnormed is not None and self.last_unnormed.shape != self.states.shape[1:]:
            raise ValueError(f"last_unnormed is {self.states.shape[1:]}; got {self.last_unnormed.shape}")
        ReadOnly.__post_init__(self)

    @property
    def n_bytes(self) -> int:
        return self.states.nbytes + (0 if self.last_unnormed is None else self.last_unnormed.nbytes)

    def __repr__(self) -> str:
        layers, _, width = self.states.shape
        cut = "" if self.published_limit is None else f", which its files cut at {self.published_limit:,}"
        return f"<HiddenStates {counted(layers, 'layer')}, width {width}, {self.encoding.summary()}{cut}>"

    def to_frame(self) -> DataFrame:
        """One row a number: layer, position, token, dimension, value (float32). The array is ``states``."""
        layer, position, dimension = np.indices(self.states.shape).reshape(3, -1)
        return table(
            {
                "layer": np.array(self.layers)[layer],
                "position": position,
                "token": np.array(self.encoding.tokens, dtype=object)[position],
                "dimension": dimension,
                "value": self.states.reshape(-1),
            }
        )
