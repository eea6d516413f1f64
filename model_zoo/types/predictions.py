"""What a model predicts at one place of a text: predictions, how they shift, the logit lens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from model_zoo.types.shows import DataFrame, Shows, table, whole_numbers
from model_zoo.types.wording import counted


class Prediction(NamedTuple):
    """A token of the vocabulary as the answer for a mask."""

    token: str
    id: int
    probability: float


class Target(NamedTuple):
    """A word that was asked for, as its token at its place; ``rank`` among all tokens counts from 1."""

    word: str
    token: str
    id: int
    probability: float
    log_probability: float
    rank: int


@dataclass(frozen=True, slots=True)
class MaskPrediction(Shows):
    """The model's prediction at one position, of a mask or after a text: ``best`` first.

    ``original`` is the original token before it was masked, None for a mask that was typed; ``rank`` is its place among
    all tokens, counted from 1, and ``log_probability`` its ln P. ``log_total`` is ln Σ exp(logit) over the vocabulary,
    so a token's logit is ln P + ``log_total``. ``targets`` are the words that were asked for, in the order asked.
    """

    position: int
    best: tuple[Prediction, ...]
    log_total: float
    original: Prediction | None = None
    rank: int | None = None
    log_probability: float | None = None
    targets: tuple[Target, ...] = ()

    def __repr__(self) -> str:
        original = "" if self.original is None else f", was {self.original.token!r} (rank {self.rank:,})"
        return f"<MaskPrediction at {self.position}: {_best(self.best)}{original}>"

    def to_frame(self) -> DataFrame:
        """One row a prediction, best first, then one a word that was asked for: position, rank (from 1), token, id,
        probability, asked (the word, "" for the best), and original ("" for a typed mask),
        original_rank, original_ln_p.
        """
        rows = [
            (rank, prediction.token, prediction.id, prediction.probability, "")
            for rank, prediction in enumerate(self.best, start=1)
        ]
        rows += [
            (prediction.rank, prediction.token, prediction.id, prediction.probability, prediction.word)
            for prediction in self.targets
        ]
        columns = dict(zip(("rank", "token", "id", "probability", "asked"), zip(*rows, strict=True), strict=True))
        return table(
            {
                "position": self.position,
                **columns,
                "original": "" if self.original is None else self.original.token,
                "original_rank": whole_numbers([self.rank] * len(rows)),
                "original_ln_p": math.nan if self.log_probability is None else self.log_probability,
            }
        )


def _best(predictions: Sequence[Prediction]) -> str:
    listed = ", ".join(f"{prediction.token!r} {prediction.probability:.3f}" for prediction in predictions[:3])
    return f"{listed}, … {len(predictions) - 3:,} more" if len(predictions) > 3 else listed


@dataclass(frozen=True, slots=True)
class Vocabulary(Shows):
    """A tokenizer's tokens, by id, and those with a role; ``mask_id`` is None where there is no mask. The network has
    ``size`` rows for them, some of them beyond the tokens where somebody rounded their number up.
    """

    tokens: tuple[str, ...]
    size: int
    mask_id: int | None
    mask_token: str | None
    unknown_id: int | None
    special_ids: frozenset[int]

    def __repr__(self) -> str:
        return f"<Vocabulary {counted(len(self.tokens), 'token')}, mask {self.mask_token!r}>"

    def to_frame(self) -> DataFrame:
        """One row a token: id, token, special."""
        ids = range(len(self.tokens))
        return table({"id": ids, "token": self.tokens, "special": [token_id in self.special_ids for token_id in ids]})


@dataclass(frozen=True, slots=True)
class MaskLens(Shows):
    """The prediction head applied to one position's hidden state after the embeddings and after every layer (logit
    lens).

    ``position`` is that of the mask, or in a causal model of the token that is next. ``layers`` holds the best tokens
    of each. ``answer`` is the best of the last layer; ``ranks`` (layers + 1,), from 1, and ``log_probabilities``
    (layers + 1,) trace it through the layers. ``original_ranks`` does so for the original token of the text, None for a
    typed mask and after the last token.
    """

    position: int
    layers: tuple[tuple[Prediction, ...], ...]
    answer: Prediction
    ranks: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    original_ranks: tuple[int, ...] | None

    def __repr__(self) -> str:
        ranks = ", ".join(f"{rank:,}" for rank in self.ranks)
        return f"<MaskLens at {self.position}: {self.answer.token!r}, rank by layer {ranks}>"

    def to_frame(self) -> DataFrame:
        """One row a layer (0 is after the embeddings) and each of its best tokens: position, layer, rank (from 1),
        token, id, probability, and how the answer stands in that layer: answer, answer_rank, answer_ln_p, and
        original_rank (missing where there is no original).
        """
        rows = [
            (layer, rank, prediction)
            for layer, best in enumerate(self.layers)
            for rank, prediction in enumerate(best, start=1)
        ]
        originals = self.original_ranks
        return table(
            {
                "position": self.position,
                "layer": [layer for layer, _, _ in rows],
                "rank": [rank for _, rank, _ in rows],
                "token": [prediction.token for _, _, prediction in rows],
                "id": [prediction.id for _, _, prediction in rows],
                "probability": [prediction.probability for _, _, prediction in rows],
                "answer": self.answer.token,
                "answer_rank": [self.ranks[layer] for layer, _, _ in rows],
                "answer_ln_p": [self.log_probabilities[layer] for layer, _, _ in rows],
                "original_rank": whole_numbers(
                    [None if originals is None else originals[layer] for layer, _, _ in rows]
                ),
            }
        )


@dataclass(frozen=True, slots=True)
class Shift(Shows):
    """A token's ln P at a mask before and after the text around it was changed."""

    token: str
    id: int
    before: float
    after: float

    @property
    def difference(self) -> float:
        return self.after - self.before
