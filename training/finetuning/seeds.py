"""How far seeds lie apart: scores of several seeds on the built-in sets at the default settings, as measured by
``python -m benchmarks.finetune --race --write``. Imports no torch.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from training.finetuning.data import SPLITS, Data
from training.finetuning.settings import Settings

FILE = Path(__file__).with_name("seeds.json")


@lru_cache(maxsize=8)
def fingerprint(data: Data) -> str:
    """Tells items apart by all of them: numbers of a set that has changed since are not shown."""
    every = [[repr(item) for item in data.split(split)] for split in SPLITS]
    return hashlib.sha256(json.dumps([every, data.measure]).encode()).hexdigest()[:16]


@cache
def _measured() -> dict[str, dict[str, dict[str, list[float]]]]:
    """Reads what was measured, by name of the set, fingerprint of its items, and model."""
    found: dict[str, dict[str, dict[str, list[float]]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def scores_of_seeds(data: Data, model: str, settings: Settings) -> list[float]:
    """What a model reached by the data's measure, a number a seed; empty where that has not been measured."""
    of_set = _measured().get(data.name)
    if of_set is None or replace(settings, seed=0) != Settings():
        return []
    return of_set.get(fingerprint(data), {}).get(model, [])


def write(data: Data, by_model: dict[str, list[float]]) -> None:
    """Put what was measured on a set into the file, in the place of what was known of it."""
    found = _measured() | {data.name: {fingerprint(data): by_model}}
    FILE.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
    _measured.cache_clear()
