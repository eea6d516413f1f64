"""A text on its way through a model, stage by stage: what is added, multiplied and normalized, with all its numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model_zoo.types.arrays import FloatArray, ReadOnly
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import DataFrame, Shows, joined, table
from model_zoo.types.wording import counted


@dataclass(frozen=True, slots=True)
class Stage(ReadOnly):
    """The vectors of all tokens at one place of the model: float32 (n, size).

    ``name`` says which place: of the embeddings "token", "position", "segment", "sum", "normed", "projected"; of a
    layer "input", "normed before", "query", "key", "value", "turned query", "turned key", "context", "attention",
    "after attention", "normed after attention", "normed between", "inner", "gate", "active", "feed-forward",
    "after feed-forward", "output". A model has those that it computes, in this order but for where its norms stand.
    ``made_of`` names the stages that it is computed from; none for what is looked up.
    """

    name: str
    values: FloatArray
    made_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeadWeights(ReadOnly):
    """The matrices of one head: x W_Q + b_Q is its query, and so on; context W_O is what it adds to the layer's output.

    ``query``, ``key``, ``value`` float32 (width, d), ``query_bias``, ``key_bias``, ``value_bias`` (d,), zeros where the
    model has none, ``output`` (d, width). ``scaling`` is what q · k is multiplied by, 1/√d in most models.
    """

    query: FloatArray
    query_bias: FloatArray
    key: FloatArray
    key_bias: FloatArray
    value: FloatArray
    value_bias: FloatArray
    output: FloatArray
    scaling: float


@dataclass(frozen=True, slots=True)
class Anatomy(ReadOnly, Shows):
    """One text in one layer and one head of a model, both counted from 0.

    ``embeddings`` lead from the tokens to what the first layer is given, and ``stages`` from there through ``layer`` to
    what it gives on: its first is "input", its last "output". ``states`` float32 (layers + 1, n, width) are what every
    layer is given and the last one gives, before any norm after it. Of the chosen head: its ``weights``, its ``query``
    and ``key`` (n, d) as they are compared (turned by their positions where the model does that), its ``value`` (n, d),
    ``scores`` (n, n) scaled and before the softmax, ``attention`` (n, n), and ``context`` (n, d). ``why_not`` says, for
    a model whose layers are not known part by part, that they are not, and what to do; ``stages`` are then "input" and
    "output" alone, ``weights`` is None, and queries and keys are None where the model does not give them.
    """

    encoding: Encoding
    model: ModelInfo
    embeddings: tuple[Stage, ...]
    stages: tuple[Stage, ...]
    states: FloatArray
    layer: int
    head: int
    attention: FloatArray
    weights: HeadWeights | None = None
    query: FloatArray | None = None
    key: FloatArray | None = None
    value: FloatArray | None = None
    scores: FloatArray | None = None
    context: FloatArray | None = None
    why_not: str | None = None

    def __repr__(self) -> str:
        where = f"layer {self.layer}, head {self.head}, {counted(len(self.stages), 'stage')} of the layer"
        return f"<Anatomy {self.model.id}: {where}, {self.encoding.summary()}>"

    def to_frame(self) -> DataFrame:
        """One row a stage and token: stage, position, token, and the length of the token's vector there. The vectors
        themselves are the stages' ``values``.
        """
        places = range(len(self.encoding))
        return joined(
            [
                table(
                    {
                        "stage": stage.name,
                        "position": places,
                        "token": self.encoding.tokens,
                        "length": np.linalg.norm(stage.values, axis=-1),
                    }
                )
                for stage in (*self.embeddings, *self.stages)
            ]
        )

    def stage(self, name: str) -> Stage:
        """The stage of a name, of the embeddings or of the layer. Raises KeyError where this model has none such."""
        for stage in (*self.embeddings, *self.stages):
            if stage.name == name:
                return stage
        raise KeyError(name)

    def has(self, name: str) -> bool:
        return any(stage.name == name for stage in (*self.embeddings, *self.stages))
