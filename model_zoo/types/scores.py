"""How probable a model finds whole texts: ln P of every token, and which of two texts it prefers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from model_zoo.types.arrays import FloatArray, ReadOnly
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.predictions import Prediction
from model_zoo.types.shows import DataFrame, Shows, joined, table

# What a token is guessed from, see ``TokenScores``.
Scheme = Literal["original", "word l2r", "causal"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


@dataclass(frozen=True, slots=True)
class TokenScores(ReadOnly, Shows):
    """ln P of every token of a text, given what the ``scheme`` lets the model see.

    In a masked language model each token is masked in turn, and the sum is the pseudo-log-likelihood. With "original" a
    token is predicted from all others (Salazar et al. 2020): the rest of its own word gives it away, and the sum over a
    word's pieces is the probability of no whole word. With "word l2r" the pieces after it in its word are masked too
    (Kauf & Ivanova 2023), so that the sum over a word is ln P(word | all other words), left to right within it. Words
    of one piece have the same score by both.

    A causal model has the scheme "causal" only, ln P(token | those before it), whose sum is the log-likelihood of the
    text after its first token. ``log_probabilities`` is float32 (n,), nan for special tokens, typed masks and a first
    token with nothing before it; ``guesses`` holds the model's top prediction for each, None at the same places.
    """

    encoding: Encoding
    model: ModelInfo
    log_probabilities: FloatArray
    guesses: tuple[Prediction | None, ...]
    scheme: Scheme = "original"

    @classmethod
    def joined(cls, parts: Sequence[TokenScores]) -> TokenScores:
        """One result joined from partial ones, each of which scored other tokens; there is at least one."""
        first = parts[0]
        logs = first.log_probabilities.copy()
        guesses = list(first.guesses)
        for part in parts[1:]:
            scored = np.isfinite(part.log_probabilities)
            logs[scored] = part.log_probabilities[scored]
            for place in np.flatnonzero(scored).tolist():
                guesses[place] = part.guesses[place]
        return cls(first.encoding, first.model, logs, tuple(guesses), first.scheme)

    def __repr__(self) -> str:
        return f"<TokenScores {self.model.id}: sum of ln P {self.log_likelihood:.2f}, {self.encoding.summary()}>"

    def to_frame(self) -> DataFrame:
        """One row a token that is scored: position, token, ln_p, surprisal_bits, guess (the model's top prediction
        there), guess_probability.
        """
        scored = [(place, guess) for place, guess in enumerate(self.guesses) if guess is not None]
        places = [place for place, _ in scored]
        return table(
            {
                "position": places,
                "token": [self.encoding.tokens[place] for place in places],
                "ln_p": self.log_probabilities[places],
                "surprisal_bits": -self.log_probabilities[places] / math.log(2),
                "guess": [guess.token for _, guess in scored],
                "guess_probability": [guess.probability for _, guess in scored],
            }
        )

    @property
    def log_likelihood(self) -> float:
        """Σ ln P over the scored tokens, in nats."""
        return float(np.nansum(self.log_probabilities, dtype=np.float64))

    @property
    def n_scored(self) -> int:
        return int(np.isfinite(self.log_probabilities).sum())


EQUAL_NATS = 0.005
"""Sums of ln P that differ by less are taken to be equal: one text in two batches differs by rounding."""


@dataclass(frozen=True, slots=True)
class Preference(Shows):
    """Which of two texts a model finds more probable: a minimal pair, scored."""

    a: TokenScores
    b: TokenScores

    def __repr__(self) -> str:
        texts = f"A {self.a.encoding.summary()}, B {self.b.encoding.summary()}"
        return f"<Preference {self.better or 'neither'}, by {abs(self.difference):.2f} nats: {texts}>"

    @property
    def difference(self) -> float:
        """Sum of ln P of A less that of B, in nats."""
        return self.a.log_likelihood - self.b.log_likelihood

    @property
    def better(self) -> Literal["A", "B"] | None:
        """The text with the higher sum of ln P; None where they are less than ``EQUAL_NATS`` apart, as a text and
        itself are.
        """
        if abs(self.difference) < EQUAL_NATS:
            return None
        return "A" if self.difference > 0 else "B"

    def to_frame(self) -> DataFrame:
        """``TokenScores.to_frame`` of both, after a column that says which text: "A" or "B"."""
        parts = {"A": self.a.to_frame(), "B": self.b.to_frame()}
        for name, part in parts.items():
            part.insert(0, "text", name)
        return joined(list(parts.values()))
