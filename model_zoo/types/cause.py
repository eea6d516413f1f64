"""What is changed in a run, which prediction is measured, and the effects."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, get_args

from model_zoo.types.arrays import FloatArray, ReadOnly
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.predictions import Prediction
from model_zoo.types.shows import DataFrame, Shows, table, whole_numbers
from model_zoo.types.wording import counted

Value = Literal["zero", "mean", "other"]
"""What stands in the place of what is switched off: nothing, its mean over built-in sentences at tokens of the same
kind, or what the run of another text has there.
"""
VALUES: Final[tuple[Value, ...]] = get_args(Value)

Reads = Literal["mask", "next token", "next sentence", "class"]
"""Which of a model's answers is looked at."""
READS: Final[tuple[Reads, ...]] = get_args(Reads)

Method = Literal[
    "occlusion",
    "gradient x input",
    "integrated gradients",
    "DecompX",
    "attention",
    "rollout",
    "contributions",
    "value zeroing",
    "value-weighted attention",
    "gradient-weighted attention",
]
"""Ways to say which tokens a prediction depends on: by hiding them, by gradients, by parts of its logit, by attention.
"""
METHODS: Final[tuple[Method, ...]] = get_args(Method)

Measure = Literal["log P", "P", "logit difference"]
"""The number that a run is measured by: ln P or P of the answer, or its logit less that of its foil."""
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)


class Edge(NamedTuple):
    """The token at ``query`` may not attend to the one at ``key``: in one head, without ``head`` in a whole layer, and
    without ``layer`` everywhere. Its other weights are scaled to sum to 1 again.
    """

    query: int
    key: int
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What is changed in one run; layers, heads and positions count from 0.

    ``heads`` (layer, head) are replaced at the input of the output projection, so that its bias stays. ``attention``
    and ``feed_forward`` are layers whose whole block is replaced, its bias with it: what it adds to the residual
    stream. ``states`` are hidden states, 0 those that enter the first layer, k those after layer k; they take another
    run's value only. All of these are replaced at ``positions``, or without it everywhere. ``edges`` are cut.
    ``hidden`` are positions at which the model reads its mask instead of the token; a model without a mask reads the
    token for unknown words, or for the end of a text.
    """

    heads: tuple[tuple[int, int], ...] = ()
    attention: tuple[int, ...] = ()
    feed_forward: tuple[int, ...] = ()
    states: tuple[int, ...] = ()
    positions: tuple[int, ...] | None = None
    edges: tuple[Edge, ...] = ()
    hidden: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetAnswer:
    """The target: the answer that a run is measured by.

    ``reads`` says where it is read: at a mask, after the text of a causal model, whether the second text is next (or in
    order), or from a classifier. ``position`` is the mask's; without it, that of the first mask. ``answer`` is a word,
    or the number of a token, of "is next" (0) and "is not" (1), or of a label; without it, the model's own top
    prediction. ``foil`` is the answer it is compared with in logit differences.
    """

    reads: Reads = "mask"
    position: int | None = None
    answer: str | int | None = None
    foil: str | int | None = None


class Reading(NamedTuple):
    """The prediction of one run: ln P and logits of the target and of its foil (None without one); ``divergence`` is
    KL(untouched ‖ this run) in nats, over all answers there are; ``best`` first.
    """

    log_probability: float
    logit: float
    foil_log_probability: float | None
    foil_logit: float | None
    divergence: float
    best: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class Effects(Shows):
    """The effects of some changes, each made in a run of its own.

    ``answer`` and ``foil`` are as the model has them, with their probability in the ``untouched`` run; ``readings`` are
    those of the changes from number ``first`` on. ``other`` is the reading of the run whose values were patched in,
    None where there was none. ``position`` is where the answer is read, None for answers to the whole text.
    """

    encoding: Encoding
    model: ModelInfo
    position: int | None
    answer: Prediction
    foil: Prediction | None
    untouched: Reading
    readings: tuple[Reading, ...]
    other: Reading | None = None
    first: int = 0

    def __repr__(self) -> str:
        return f"<Effects on {self.answer.token!r}: {counted(len(self.readings), 'change')}>"

    def to_frame(self) -> DataFrame:
        """One row a change, by its number: ln P, probability and logit of the answer, how much ``ln_p`` differs from
        the untouched run's, ln P and logit of the foil (nan without one), ``kl_nats`` from the untouched run, and the
        best answer with its probability.
        """
        return table(
            {
                "change": range(self.first, self.first + len(self.readings)),
                "ln_p": [reading.log_probability for reading in self.readings],
                "ln_p_change": [reading.log_probability - self.untouched.log_probability for reading in self.readings],
                "probability": [math.exp(reading.log_probability) for reading in self.readings],
                "logit": [reading.logit for reading in self.readings],
                "foil_ln_p": [_number(reading.foil_log_probability) for reading in self.readings],
                "foil_logit": [_number(reading.foil_logit) for reading in self.readings],
                "kl_nats": [reading.divergence for reading in self.readings],
                "best": [reading.best[0].token for reading in self.readings],
                "best_probability": [reading.best[0].probability for reading in self.readings],
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution(ReadOnly, Shows):
    """One number a token, float32 (n,): how much of the ``measure`` of a prediction a method attributes to it.

    ``counted`` are the positions that can have a number: neither special tokens nor the mask that is read.
    ``difference`` is what the numbers should add up to, and ``error`` is their sum less that; None for methods that
    promise no sum. For integrated gradients it is the measure in this run less the measure when every token with a
    number is hidden. For DecompX it is the logit of the answer, less that of the foil for the measure "logit
    difference" and else less the mean of all answers' logits; the sum then includes ``uncounted``, the parts of the
    tokens without a number, and ``bias``, the part of all biases.
    """

    encoding: Encoding
    model: ModelInfo
    method: Method
    measure: Measure
    position: int | None
    answer: Prediction
    foil: Prediction | None
    scores: FloatArray = field(repr=False)
    counted: tuple[int, ...]
    difference: float | None = None
    error: float | None = None
    uncounted: float | None = None
    bias: float | None = None

    def __repr__(self) -> str:
        return f"<Attribution of {self.answer.token!r} by {self.method}, in {self.measure}: {self.encoding.summary()}>"

    def to_frame(self) -> DataFrame:
        """One row a token that can have a number: position, token, score."""
        places = list(self.counted)
        tokens = [self.encoding.tokens[place] for place in places]
        return table({"position": places, "token": tokens, "score": self.scores[places]})


class Contribution(NamedTuple):
    """One part of a sum: what it is, its ``layer`` and ``head`` from 0 where it has them, what it adds to the logit of
    the target and to that of its foil (None without one), and the tokens that it promotes most, with how much it raises
    them above the mean of all tokens.
    """

    kind: Literal["token", "position", "segment", "head", "feed-forward", "bias"]
    layer: int | None
    head: int | None
    logit: float
    foil_logit: float | None
    raises: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Decomposition(Shows):
    """The logit of a prediction as a sum (direct logit attribution) of ``parts``; ``error`` is their sum less the
    logit.

    Every norm that a part passes, and the activation of the head, are frozen at their values in this run, so that the
    rest is linear.
    """

    encoding: Encoding
    model: ModelInfo
    position: int
    answer: Prediction
    foil: Prediction | None
    logit: float
    foil_logit: float | None
    parts: tuple[Contribution, ...]
    error: float

    def __repr__(self) -> str:
        return f"<Decomposition of {self.answer.token!r}: {counted(len(self.parts), 'part')}, logit {self.logit:.3f}>"

    def to_frame(self) -> DataFrame:
        """One row a part: kind, layer and head (missing where it has none), logit, foil_logit (nan without a foil), and
        the tokens that it raises most.
        """
        return table(
            {
                "kind": [part.kind for part in self.parts],
                "layer": whole_numbers([part.layer for part in self.parts]),
                "head": whole_numbers([part.head for part in self.parts]),
                "logit": [part.logit for part in self.parts],
                "foil_logit": [_number(part.foil_logit) for part in self.parts],
                "raises": [" ".join(token for token, _ in part.raises) for part in self.parts],
            }
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
