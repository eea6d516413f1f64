"""What a pass of a model costs: events of a measurement, as they come."""

from __future__ import annotations

from dataclasses import dataclass

from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import Shows

COST_LENGTHS = (16, 32, 64, 128, 256, 512)
"""Tokens of the texts that models are timed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSubject(Shows):
    """A model that is about to be timed on texts of ``lengths`` tokens; ``model`` is the name that was asked for.

    ``n_bytes`` are its weights as loaded, heads and decoder included; ``n_threads`` the CPU threads of one pass.
    ``pieces_per_word`` is the number of tokens that its vocabulary makes of a word of the built-in sentences, on
    average.
    """

    model: str
    info: ModelInfo
    n_bytes: int
    n_threads: int
    pieces_per_word: float
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSample(Shows):
    """One timed pass of one text of ``n_tokens`` tokens, which are ``n_words`` words.

    ``round`` counts from 1; round 0 is the warm-up, which no figure counts. ``peak_bytes`` is what the pass took
    on a GPU beside the weights, None elsewhere. ``share`` of the whole run is done, in [0, 1].
    """

    model: str
    n_tokens: int
    n_words: int
    round: int
    seconds: float
    peak_bytes: int | None
    share: float


@dataclass(frozen=True, slots=True)
class CostFailure(Shows):
    """Why a model, or its longer texts, could not be measured; the others continue."""

    model: str
    reason: str


CostEvent = CostSubject | CostSample | CostFailure
