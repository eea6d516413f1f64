"""``/metrics``: the process in figures, in Prometheus' text form.

Names and units follow https://prometheus.io/docs/practices/naming/. Nothing is counted here: every figure is read from
the app when it is asked for.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from model_zoo.version import __version__
from web.monitoring import Figures, look, public_name

PREFIX = "inside_bert_"


def metrics(request: Request) -> Response:  # noqa: ARG001
    """The figures of now; a plain function, so that the server asks it beside its event loop."""
    return Response(text(look()), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def text(figures: Figures) -> bytes:
    """The figures as Prometheus reads them (text format 0.0.4)."""
    registry = CollectorRegistry()
    registry.register(_Reading(figures))
    return generate_latest(registry)


class _Reading(Collector):
    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        now, engine = self._figures, self._figures.engine
        for name, value, meaning in (
            ("visitors", now.visitors, "Browser tabs that are connected."),
            ("page_runs_in_progress", now.pages.running, "Runs of pages that have a turn."),
            ("page_runs_waiting", now.pages.waiting, "Runs of pages that wait for a turn."),
            ("model_runs_in_progress", engine.running, "Runs of models that have a turn."),
            ("questions_waiting", engine.waiting, "Questions that wait for a turn."),
            ("answers_remembered", engine.n_remembered, "Answers that are remembered."),
            ("answers_bytes", engine.result_bytes, "Memory of the answers that are remembered."),
            ("answers_limit_bytes", engine.result_budget, "Memory that answers may take."),
            ("models_bytes", engine.model_bytes, "Memory of all models together."),
            ("models_limit_bytes", engine.model_budget, "Memory that models may take; 0 before the first one."),
            ("models_moved", len(engine.moved), "Models that run on the CPU because the GPU had no memory left."),
            ("jobs_in_progress", now.jobs.running, "Jobs in the background that have begun; they take turns."),
            ("jobs_waiting", now.jobs.waiting, "Jobs in the background that have not begun."),
            ("resident_memory_bytes", now.memory, "Resident memory of the process."),
            ("memory_limit_bytes", now.memory_limit, "Memory beyond which answers and idle models are forgotten."),
            ("uptime_seconds", max(0.0, now.at - now.since), "Time since the process was started."),
            ("processors", now.n_cpus, "Processors of the machine."),
        ):
            yield GaugeMetricFamily(PREFIX + name, meaning, value)
        for name, value, meaning in (
            ("questions_answered", engine.n_answered, "Questions that models have answered."),
            ("model_runs", engine.n_runs, "Runs of models; one can answer several questions."),
            ("unforeseen_errors", now.n_errors, "Errors that visitors have seen and nobody foresaw."),
            ("cpu_seconds", now.cpu_seconds, "Processor time of the process."),
        ):
            yield CounterMetricFamily(PREFIX + name, meaning, value)
        yield from self._models()
        yield from self._cluster()
        yield InfoMetricFamily(PREFIX + "build", "Versions of the app and of what it runs on.", versions())

    def _cluster(self) -> Iterator[Metric]:
        cluster = self._figures.cluster
        if cluster is None:
            return
        reachable = "Whether it answered the last question."
        yield GaugeMetricFamily(PREFIX + "cluster_reachable", reachable, cluster.reachable)
        yield GaugeMetricFamily(PREFIX + "replicas", "Replicas that have answered of late.", cluster.n_replicas)
        for name, value, meaning in (
            ("cluster_questions", cluster.n_sent, "Questions sent to the cluster."),
            ("cluster_questions_again", cluster.n_sent_twice, "Of them those that had to be sent twice."),
            ("cluster_questions_unanswered", cluster.n_unanswered, "Of them those that nobody answered."),
            ("cluster_questions_refused", cluster.n_refused, "Of them those for which too many others waited."),
        ):
            yield CounterMetricFamily(PREFIX + name, meaning, value)

    def _models(self) -> Iterator[Metric]:
        """One line a listed model; all others are one line together, because their names may be paths."""
        n_bytes: dict[str, int] = {}
        idle: dict[str, float] = {}
        for model in self._figures.models:
            name = public_name(model.info.id)
            n_bytes[name] = n_bytes.get(name, 0) + model.n_bytes
            idle[name] = min(idle.get(name, float("inf")), model.idle_seconds)
        memory = GaugeMetricFamily(PREFIX + "model_bytes", "Memory of a model.", labels=["model"])
        unused = GaugeMetricFamily(PREFIX + "model_idle_seconds", "Time since a model was last used.", labels=["model"])
        for name in n_bytes:
            memory.add_metric([name], n_bytes[name])
            unused.add_metric([name], idle[name])
        yield memory
        yield unused


@cache
def versions() -> dict[str, str]:
    """Read from the files of the packages: none is imported for it."""
    packages = {}
    for name in ("streamlit", "torch", "transformers"):
        with suppress(PackageNotFoundError):  # where models run on a cluster, the last two need not be here
            packages[name] = version(name)
    return {"version": __version__, "python": platform.python_version(), **packages}
