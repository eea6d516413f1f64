"""The figures of a process at work, made up."""

from __future__ import annotations

from datetime import UTC, datetime

from model_zoo.types import EngineState, HeldModel, ModelInfo
from web.monitoring import Figures, Turns

MB = 10**6
_SINCE = datetime(2026, 3, 1, 23, 30, tzinfo=UTC).timestamp()


def held(model: str, *, n_bytes: int = 87 * MB, idle_seconds: float = 12.3, in_use: bool = False) -> HeldModel:
    info = ModelInfo(
        id=model,
        revision="1",
        family="bert",
        n_layers=6,
        n_heads=12,
        width=384,
        parameters=22_893_116,
        max_tokens=512,
        mlm=True,
        nsp="NSP",
        device="cpu",
        dtype="float32",
    )
    return HeldModel(info, n_bytes, idle_seconds, in_use)


FIGURES = Figures(
    at=_SINCE + 7505,
    since=_SINCE,
    visitors=30,
    pages=Turns(2, 5),
    jobs=Turns(1, 4),
    engine=EngineState(
        running=1,
        waiting=3,
        n_answered=1500,
        n_runs=900,
        n_remembered=120,
        result_bytes=40 * MB,
        result_budget=128 * MB,
        model_bytes=87 * MB,
        model_budget=1600 * MB,
    ),
    models=(held("embedded/bert"),),
    device="cpu",
    memory=612 * MB,
    memory_limit=3400 * MB,
    cpu_seconds=100.0,
    n_cpus=2,
    n_errors=6,
)
