"""What a pretrained model passes on, in small: scores of frozen features beside fine-tuning, and of a task learned
before another, as measured by ``python -m tools.transfer``. Of the built-in sets and the bundled models.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from model_zoo import DEFAULT_MODEL
from training.finetuning.settings import Settings

FILE: Final = Path(__file__).with_name("transfer.json")
SEEDS: Final = 5

FINE_TUNED: Final = "fine-tuned"
CONCATENATED: Final = 4
"""Layers whose vectors are concatenated or added up."""

DIRECTLY: Final = "directly"
SMALL: Final = Settings(examples=60, epochs=10)
"""How the second of two tasks is learned, or the only one: few examples, as often as they need."""

ORDERS: Final[Mapping[str, tuple[str, ...]]] = {"similarity": ("inference", "sentiment"), "inference": ("similarity",)}
"""Sets of which a model learns a few examples, and those that it learns in full before."""


@dataclass(frozen=True, slots=True)
class TransferScore:
    """A score on a set's test split with its 95% interval, over seeds and items. ``items`` and ``revision`` say of
    which items and weights it is.
    """

    model: str
    revision: str
    set: str
    items: str
    way: str
    score: float
    low: float
    high: float
    seeds: int


def frozen_ways(layers: int) -> tuple[str, ...]:
    """Names of the features that are tried, as in Table 7 of Devlin et al. 2019."""
    n = min(CONCATENATED, layers)
    return "embeddings", "second-to-last layer", "last layer", f"last {n} concatenated", f"last {n} summed"


@cache
def recorded() -> tuple[TransferScore, ...]:
    """What was measured."""
    return tuple(TransferScore(**row) for row in json.loads(FILE.read_text(encoding="utf-8")))


def scores_by_way(set: str, model: str = DEFAULT_MODEL) -> dict[str, TransferScore]:
    """What was measured of a model on a set, by way."""
    return {score.way: score for score in recorded() if (score.set, score.model) == (set, model)}
