"""What an engine is doing at this moment."""

from __future__ import annotations

from dataclasses import dataclass

from model_zoo.types.shows import Shows


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineState(Shows):
    """Counts since the engine was made, and bytes now.

    ``running`` model runs have their turn and ``waiting`` stand in line. ``n_answered`` questions took ``n_runs`` runs:
    fewer where several were run together. ``n_remembered`` answers take ``result_bytes`` of ``result_budget``, models
    ``model_bytes`` of ``model_budget`` (0 before the first one). ``moved`` are models that run on the CPU because the
    GPU had no memory left for them.
    """

    running: int
    waiting: int
    n_answered: int
    n_runs: int
    n_remembered: int
    result_bytes: int
    result_budget: int
    model_bytes: int
    model_budget: int
    moved: tuple[str, ...] = ()
