"""Numbers from a masked-word model's answers: surprisal, pseudo-perplexity, cross-entropy, softmax step by
step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.words import Unit
from model_zoo.types import FloatArray, MaskPrediction, Prediction, TokenScores


def bits(log_probability: float) -> float:
    """Surprisal -log2 P from ln P."""
    return -log_probability / math.log(2)


@dataclass(frozen=True, slots=True)
class Whole:
    """A text's scores: pseudo-log-likelihood Σ ln P(token | rest) in nats, the number of tokens in the sum,
    and
    pseudo-perplexity exp(-PLL / n), nan for a text without tokens to score (Salazar et al. 2020, eq. 1 and
    2).
    """

    log_likelihood: float
    n_tokens: int

    @property
    def perplexity(self) -> float:
        return math.exp(-self.log_likelihood / self.n_tokens) if self.n_tokens else math.nan


def whole(scores: TokenScores) -> Whole:
    """Pseudo-log-likelihood and pseudo-perplexity of a text."""
    logs = scores.log_probabilities.astype(np.float64)
    return Whole(float(np.nansum(logs)), int(np.isfinite(logs).sum()))


def preferred(a: Whole, b: Whole, digits: int = 2) -> Literal["A", "B"] | None:
    """Which of two texts has the higher pseudo-log-likelihood; None where they differ by less than ``digits`` decimals
    can show, as a text and itself do.
    """
    difference = round(a.log_likelihood - b.log_likelihood, digits)
    if difference == 0:
        return None
    return "A" if difference > 0 else "B"


def unit_bits(scores: TokenScores, units: Sequence[Unit]) -> FloatArray:
    """Surprisal in bits of tokens or words, float32 (units,): of a word the sum over its pieces; nan for
    none.
    """
    return np.array(
        [-scores.log_probabilities[unit.start : unit.stop].sum() / math.log(2) for unit in units], dtype=np.float32
    )


def cross_entropy(answers: Sequence[MaskPrediction]) -> float:
    """The masked-word loss: mean of -ln P(original) over the chosen positions, in nats; nan for none."""
    losses = [-answer.log_probability for answer in answers if answer.log_probability is not None]
    return sum(losses) / len(losses) if losses else math.nan


@dataclass(frozen=True, slots=True)
class SoftmaxRow:
    """One line of the softmax: logit z, exp(z - largest z), and their share of the sum. ``n`` tokens share
    it.

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
    shown: list[Prediction] = list(answer.best[:top])
    if answer.original is not None and answer.original.id not in [entry.id for entry in shown]:
        shown.append(answer.original)
    logs = [math.log(max(entry.probability, 1e-45)) for entry in shown]
    if answer.original is not None and answer.log_probability is not None:
        for place, entry in enumerate(shown):
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
        for entry, log in zip(shown, logs, strict=True)
    ]
    rest = max(0.0, 1 - sum(row.probability for row in rows))
    others = vocabulary_size - len(rows)
    return (*rows, SoftmaxRow("all others", others, math.nan, rest / math.exp(largest), rest, False))
