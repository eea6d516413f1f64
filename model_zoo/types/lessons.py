"""What lessons ask of a model beside its predictions: neighbours in the table of embeddings, one step of training, and
how positions are represented.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from model_zoo.types.arrays import FloatArray, ReadOnly
from model_zoo.types.encoding import Encoding
from model_zoo.types.predictions import Prediction
from model_zoo.types.shows import DataFrame, Shows, table
from model_zoo.types.wording import counted

Without = Literal["", "future", "positions"]
"""What a model is kept from seeing: nothing, the tokens that come later, or where tokens stand."""


class Neighbour(NamedTuple):
    """A token of the vocabulary and the cosine of its embedding with that of another."""

    token: str
    id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class TrainingStep(Shows):
    """One step of gradient descent at one mask, whose original token is ``answer``.

    ``tokens`` are the answer first and then the top predictions before the step; their ``logits``, ``probabilities``
    and ``gradient`` (p − y: how the loss changes with each logit) are those before. ``loss`` is −ln P(answer) in nats,
    ``squared_length`` ‖h‖² of the vector h that the output layer multiplies.

    ``by_hand`` are the probabilities after a step of the output layer alone: every logit z becomes z − rate · (p − y) ·
    (‖h‖² + 1), because its weights change by rate · (p − y) · h and its bias by rate · (p − y). ``after`` are those
    after a step of all weights, with the ``loss_after``. ``norms`` are the lengths of the loss's gradient by part of
    the network, from the embeddings up.
    """

    position: int
    rate: float
    answer: Prediction
    tokens: tuple[Prediction, ...]
    logits: tuple[float, ...]
    gradient: tuple[float, ...]
    loss: float
    squared_length: float
    by_hand: tuple[float, ...]
    after: tuple[float, ...]
    loss_after: float
    norms: tuple[tuple[str, float], ...]

    @property
    def probabilities(self) -> tuple[float, ...]:
        return tuple(token.probability for token in self.tokens)

    def __repr__(self) -> str:
        return (
            f"<TrainingStep at {self.position}: loss of {self.answer.token!r} {self.loss:.3f} → {self.loss_after:.3f}>"
        )

    def to_frame(self) -> DataFrame:
        """One row a token, the answer first: token, id, its logit, probability and gradient before the step, and its
        probability by_hand and after.
        """
        return table(
            {
                "token": [score.token for score in self.tokens],
                "id": [score.id for score in self.tokens],
                "logit": self.logits,
                "probability": self.probabilities,
                "gradient": self.gradient,
                "by_hand": self.by_hand,
                "after": self.after,
            }
        )


PositionKind = Literal["learned", "rotary", "relative", "none"]


@dataclass(frozen=True, slots=True)
class Positions(ReadOnly, Shows):
    """How a model represents positions.

    "learned": ``table`` float32 (n, width) holds a vector a position, added to the embeddings. "rotary":
    ``frequencies`` float32 (layers, d/2) are the angles, in radians a position, by which each layer rotates every pair
    of dimensions of queries and keys. "relative": ``bias`` float32 (heads, n, n) is added to the scores by the distance
    of the two tokens, in the first layer. "none": the model learns order in other ways (recurrence), or nothing is
    known here.
    """

    kind: PositionKind
    table: FloatArray | None = None
    frequencies: FloatArray | None = None
    bias: FloatArray | None = None

    def __repr__(self) -> str:
        array = self._array()
        return f"<Positions: {self.kind}{'' if array is None else f', {array.shape}'}>"

    def _array(self) -> FloatArray | None:
        """The one of its arrays that it has."""
        return {"learned": self.table, "rotary": self.frequencies, "relative": self.bias}.get(self.kind)

    def to_frame(self) -> DataFrame:
        """One row a number, by kind. "learned": position, dimension, value; "rotary": layer, pair, value (radians a
        position); "relative": head, query, key, value; else none.
        """
        axes = {
            "learned": ("position", "dimension"),
            "rotary": ("layer", "pair"),
            "relative": ("head", "query", "key"),
        }.get(self.kind, ())
        array = self._array()
        if array is None:
            return table({"value": []})
        places = np.indices(array.shape).reshape(array.ndim, -1)
        return table({**dict(zip(axes, places, strict=True)), "value": array.reshape(-1)})


@dataclass(frozen=True, slots=True)
class RecurrentPass(ReadOnly, Shows):
    """What the first LSTM of a model carries along a text as it reads it from left to right.

    ``states`` float32 (n, d) are its states after each token; each depends on the tokens up to it alone. ``gradients``
    float32 (n,) are the lengths (Frobenius norms) of the derivative of the last state by what enters at each token.
    """

    encoding: Encoding
    states: FloatArray
    gradients: FloatArray

    def __repr__(self) -> str:
        return f"<RecurrentPass {counted(self.states.shape[-1], 'unit')}, {self.encoding.summary()}>"

    def to_frame(self) -> DataFrame:
        """One row a token: position, token, the length of the state after it, and gradient."""
        return table(
            {
                "position": range(len(self.encoding)),
                "token": self.encoding.tokens,
                "state_length": np.linalg.norm(self.states, axis=-1),
                "gradient": self.gradients,
            }
        )
