"""Numbers from a model's answers: surprisal, perplexity, cross-entropy, softmax step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.words import Unit
from model_zoo.types import FloatArray, MaskPrediction, Prediction, TokenScores


def bits(log_probability: float) -> float:
    """Surprisal -log2 P from ln P."""
    return -log_probability / math.log(2)


def perplexity(scores: TokenScores) -> float:
    """exp(-Σ ln P / n) over the n scored tokens, nan for none.

    Of a causal model the perplexity, of a masked-word model the pseudo-perplexity (Salazar et al. 2020, eq. 2).
    """
    return math.exp(-scores.log_likelihood / scores.n_scored) if scores.n_scored else math.nan


def unit_bits(scores: TokenScores, units: Sequence[Unit]) -> FloatArray:
    """Surprisal in bits of tokens or words, float32 (units,): of a word the sum over its pieces; nan for none."""
    return np.array(
        [-scores.log_probabilities[unit.start : unit.stop].sum() / math.log(2) for unit in units], dtype=np.float32
    )


def cross_entropy(answers: Sequence[MaskPrediction]) -> float:
    """The masked-word loss: mean of -ln P(original) over the chosen positions, in nats; nan for none."""
    losses = [-answer.log_probability for answer in answers if answer.log_probability is not None]
    return sum(losses) / len(losses) if losses else math.nan


@dataclass(frozen=True, slots=True)
class SoftmaxRow:
    """One line of the softmax: logit z, exp(z - largest z), and their share of the sum. ``n`` tokens share it.

    For several tokens together ``logit`` is nan.
    """

    label: str
    n: int
    logit: float
    exponential: float
    probability: float
    is_original: bool


def softmax_by_hand(answer: MaskPrediction, vocabulary_size: int, top: int = 4) -> tuple[SoftmaxRow, ...]:
    """The softmax of one position: the best tokens, the original, and all others together.

    Probabilities sum to 1; the loss is -ln of the original's.
    """
    listed: list[Prediction] = list(answer.best[:top])
    if answer.original is not None and answer.original.id not in [entry.id for entry in listed]:
        listed.append(answer.original)
    logs = [math.log(max(entry.probability, 1e-45)) for entry in listed]
    if answer.original is not None and answer.log_probability is not None:
        for place, entry in enumerate(listed):
            if entry.id == answer.original.id:
                logs[place] = answer.log_probability  # exact where the probability rounds to 0
    largest = logs[0]
    rows = [
        SoftmaxRow(
            entry.token,
            1,
            log + answer.log_total,
            math.exp(log - largest),
            math.exp(log),
            answer.original is not None and entry.id == answer.original.id,
        )
        for entry, log in zip(listed, logs, strict=True)
    ]
    rest = max(0.0, 1 - sum(row.probability for row in rows))
    others = vocabulary_size - len(rows)
    return (*rows, SoftmaxRow("all others", others, math.nan, rest / math.exp(largest), rest, False))
