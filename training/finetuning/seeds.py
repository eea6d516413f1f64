"""What the built-in sets come to: scores of several seeds at the default settings, and of the strongest baseline, as
measured by ``python -m benchmarks.finetune --write``. Imports no torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from training.finetuning.data import SPLITS, Data
from training.finetuning.scores import MEASURES
from training.finetuning.settings import Settings

FILE = Path(__file__).with_name("seeds.json")


@dataclass(frozen=True, slots=True)
class SeedScores:
    """What a model reached on a test split by the data's measure: ``values`` are those of its seeds, ``mean`` with a
    95% interval over seeds and clusters of items. ``baseline`` is the strongest that needs no tuning,
    ``baseline_is`` its name.
    """

    values: tuple[float, ...]
    mean: float
    low: float
    high: float
    baseline: float
    baseline_is: str


@lru_cache(maxsize=8)
def fingerprint(data: Data) -> str:
    """Tells items apart by all of them: numbers of a set that has changed since are not shown."""
    every = [[repr(item) for item in data.split(split)] for split in SPLITS]
    return hashlib.sha256(json.dumps([every, data.measure]).encode()).hexdigest()[:16]


@cache
def _measured() -> dict[str, dict[str, dict[str, SeedScores]]]:
    """Reads what was measured, by name of the set, fingerprint of its items, and model."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: {items: {model: _read(of) for model, of in models.items()} for items, models in of_set.items()}
        for name, of_set in stored.items()
    }


def _read(stored: dict[str, Any]) -> SeedScores:
    return SeedScores(**stored | {"values": tuple(stored["values"])})


def scores_by_model(data: Data) -> Mapping[str, SeedScores]:
    """What each model that was measured on these items reached at the default settings."""
    of_set = _measured().get(data.name)
    return {} if of_set is None else of_set.get(fingerprint(data), {})


def seed_scores(data: Data, model: str, settings: Settings) -> SeedScores | None:
    """What a model reached with these settings; None where that has not been measured."""
    return scores_by_model(data).get(model) if replace(settings, seed=0) == Settings() else None


def describe_seeds(data: Data, model: str, settings: Settings) -> str:
    """The same in a sentence; "" where that has not been measured."""
    seeds, measure = seed_scores(data, model, settings), MEASURES[data.measure]
    if seeds is None:
        return ""
    low, high, mean, least, most = map(
        measure.format, (seeds.low, seeds.high, seeds.mean, min(seeds.values), max(seeds.values))
    )
    return (
        f"Another seed may differ: {len(seeds.values)} seeds of this model with these settings reached {least} to "
        f"{most} ({measure.title}), their mean is {mean} (95% interval over seeds and items: {low} to {high})."
    )


def write(data: Data, scores: Mapping[str, SeedScores]) -> None:
    """Put what was measured on a set into the file, by model, in the place of what was known of it."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    stored[data.name] = {fingerprint(data): {model: asdict(of) for model, of in scores.items()}}
    FILE.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n", encoding="utf-8")
    _measured.cache_clear()
