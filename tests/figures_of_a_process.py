"""The figures of a process at work, made up."""

from datetime import UTC, datetime

import builders

from model_zoo.types import EngineState, HeldModel
from web.monitoring import Figures, Turns

MB = 10**6
_SINCE = datetime(2026, 3, 1, 23, 30, tzinfo=UTC).timestamp()


def held(model: str, *, n_bytes: int = 87 * MB, idle_seconds: float = 12.3, in_use: bool = False) -> HeldModel:
    return HeldModel(builders.info(id=model, n_layers=6, n_heads=12, width=384), n_bytes, idle_seconds, in_use)


FIGURES = Figures(
    at=_SINCE + 7505, since=_SINCE, visitors=30, pages=Turns(2, 5), jobs=Turns(1, 4),
    engine=EngineState(
        running=1, waiting=3, n_answered=1500, n_runs=900, n_remembered=120, result_bytes=40 * MB,
        result_budget=128 * MB, model_bytes=87 * MB, model_budget=1600 * MB,
    ),
    models=(held("embedded/bert"),), device="cpu", memory=612 * MB, memory_limit=3400 * MB, cpu_seconds=100.0,
    n_cpus=2, n_errors=6,
)  # fmt: skip
