"""What lessons ask of a model beside its predictions: neighbours in the table of embeddings, one step of training, and
how positions are represented.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from model_zoo.types.arrays import FloatArray, ReadOnly, lock
from model_zoo.types.encoding import Encoding
from model_zoo.types.predictions import Prediction

Without = Literal["", "future", "positions"]
"""What a model is kept from seeing: nothing, the tokens that come later, or where tokens stand."""


class Neighbour(NamedTuple):
    """A token of the vocabulary and the cosine of its embedding with that of another."""

    token: str
    id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class TrainingStep:
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


PositionKind = Literal["learned", "rotary", "relative", "none"]


@dataclass(frozen=True, slots=True)
class Positions(ReadOnly):
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

    def __post_init__(self) -> None:
        lock(self, "table", "frequencies", "bias")

    @property
    def n_bytes(self) -> int:
        return sum(0 if array is None else array.nbytes for array in (self.table, self.frequencies, self.bias))


@dataclass(frozen=True, slots=True)
class RecurrentPass(ReadOnly):
    """What the first LSTM of a model carries along a text as it reads it from left to right.

    ``states`` float32 (n, d) are its states after each token; each depends on the tokens up to it alone. ``gradients``
    float32 (n,) are the lengths (Frobenius norms) of the derivative of the last state by what enters at each token.
    """

    encoding: Encoding
    states: FloatArray
    gradients: FloatArray

    def __post_init__(self) -> None:
        lock(self, "states", "gradients")

    @property
    def n_bytes(self) -> int:
        return self.states.nbytes + self.gradients.nbytes
