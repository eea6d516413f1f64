"""What the process does at this moment, in figures: for the page Status, and for who watches it from outside."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Protocol

import psutil
from streamlit import runtime
from streamlit.runtime.stats import ACTIVE_SESSIONS_FAMILY, GaugeStat

from jobs import WORKER
from model_zoo import registry
from model_zoo.types import MB, EngineState, HeldModel
from web.engine import cluster, engine
from web.process import unforeseen
from web.settings import settings
from web.turns import PAGES

OTHER = "other"
"""Stands for every model that is not listed: a visitor typed its name, which may be a path."""


class Queue(Protocol):
    """Where things have turns."""

    @property
    def running(self) -> int: ...

    @property
    def waiting(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Turns:
    """How many have a turn, and how many wait for one."""

    running: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One moment. ``at`` and ``since`` are Unix times, now and when the process was started; ``memory`` is resident.

    ``visitors`` are connected browser tabs. ``device`` is None until torch is loaded. The process has used
    ``cpu_seconds`` of ``n_cpus`` processors since it was started, and visitors have seen ``n_errors`` that nobody
    foresaw. Memory is in bytes; beyond ``memory_limit`` answers and idle models are forgotten.
    """

    at: float
    since: float
    visitors: int
    pages: Turns
    jobs: Turns
    engine: EngineState
    models: tuple[HeldModel, ...]
    device: str | None
    memory: int
    memory_limit: int
    cpu_seconds: float
    n_cpus: int
    n_errors: int
    cluster: Cluster | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """How a cluster that holds the models answers. ``n_replicas`` have answered lately. Of the questions that were
    sent, ``n_sent``, some had to be sent twice, and the last two counts are of those without an answer.
    """

    reachable: bool
    n_replicas: int
    n_sent: int
    n_sent_twice: int
    n_unanswered: int
    n_refused: int


def _cluster() -> Cluster | None:
    remote = cluster()
    if remote is None:
        return None
    counts = remote.counts
    return Cluster(
        reachable=remote.reachable,
        n_replicas=remote.n_replicas,
        n_sent=counts.requests,
        n_sent_twice=counts.retries,
        n_unanswered=counts.unreachable,
        n_refused=counts.busy,
    )


def look(pages: Queue = PAGES, jobs: Queue = WORKER) -> Figures:
    """The figures of now. Loads nothing and waits for nobody's question."""
    process, engine_ = psutil.Process(), engine()
    with process.oneshot():
        cpu = process.cpu_times()
        return Figures(
            at=time.time(),
            since=process.create_time(),
            visitors=_visitors(),
            pages=Turns(pages.running, pages.waiting),
            jobs=Turns(jobs.running, jobs.waiting),
            engine=engine_.state(),
            models=tuple(engine_.held()),
            device=engine_.device if engine_.started else None,
            memory=process.memory_info().rss,
            memory_limit=settings().process_memory_mb * MB,
            cpu_seconds=cpu.user + cpu.system,
            n_cpus=os.cpu_count() or 1,
            n_errors=unforeseen().n,
            cluster=_cluster(),
        )


def public_name(model: str) -> str:
    """The id of a listed model, ``OTHER`` for any other."""
    return OTHER if registry.find(model) is None else model


def _visitors() -> int:
    """Streamlit's own count; 0 where no server runs."""
    if not runtime.exists():
        return 0
    stats = runtime.get_instance().stats_mgr.get_stats([ACTIVE_SESSIONS_FAMILY])
    return sum(stat.value for stat in stats.get(ACTIVE_SESSIONS_FAMILY, ()) if isinstance(stat, GaugeStat))
