"""What the figures mean, in words for a teacher in front of a class. Draws nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal

from model_zoo import registry
from model_zoo.types import counted, megabytes
from web.monitoring import Figures

NEARLY_FULL = 0.9
CROWDED = 0.5

Level = Literal["well", "busy", "trouble"]

THRESHOLDS = (
    "This page counts as a visitor and as a page at work. When many people click at once, some wait for a moment; "
    f"that is normal. It is too much when more than half of the visitors are waiting. From {NEARLY_FULL:.0%} of its "
    "limit, memory counts as nearly full. When it is full, the app clears cached answers first and then unused "
    "models; they come back when they are needed, with a short delay."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether everything is all right, and why, in a sentence or two."""

    level: Level
    text: str


def waiting(now: Figures) -> int:
    """How many visitors wait: each has one run of a page at a time, which waits for its turn or for its answer's."""
    return min(now.visitors, now.pages.waiting + now.engine.waiting)


def verdict(now: Figures) -> Verdict:
    """The worst that can be said, first."""
    full, n_waiting = now.memory / now.memory_limit, waiting(now)
    if now.cluster is not None and not now.cluster.reachable:
        return Verdict(
            "trouble",
            "The cluster that runs the models is not responding. What is on the screen stays, and pages continue by "
            "themselves when it is back.",
        )
    if full >= 1:
        return Verdict(
            "trouble",
            f"Memory is full. {_who_waits(now)} The app is clearing answers and idle models, so pages take longer. "
            "Empty the caches below; if memory is still full after that, restart the app.",
        )
    if n_waiting > CROWDED * now.visitors:
        return Verdict(
            "trouble",
            f"{_who_waits(now)} That is more than this machine can serve at once: ask the class to pause for a "
            "moment, or to work in pairs.",
        )
    if now.device is None:
        return Verdict("busy", f"The app is starting: the first model takes a few seconds. {_who_waits(now)}")
    if full >= NEARLY_FULL:
        return Verdict("busy", f"Memory is nearly full. {_who_waits(now)}")
    if now.engine.moved:
        return Verdict(
            "busy",
            f"The GPU is out of memory, so {counted(len(now.engine.moved), 'model')} "
            f"{'runs' if len(now.engine.moved) == 1 else 'run'} on the CPU, which takes longer. {_who_waits(now)}",
        )
    if n_waiting:
        return Verdict("busy", f"{_who_waits(now)} That is normal for a moment.")
    return Verdict("well", f"All is well: {counted(now.visitors, 'visitor')}, none waiting.")


def _who_waits(now: Figures) -> str:
    n = waiting(now)
    if not n:
        return f"{counted(now.visitors, 'visitor')}, none waiting."
    verb, whose = ("waits", "a") if n == 1 else ("wait", "their")
    return f"{n:,} of {counted(now.visitors, 'visitor')} {verb} for {whose} turn."


def processors(before: Figures | None, now: Figures) -> str:
    """How many processors the app kept at work between two looks: "1.7 of 2"; a dash before the second look."""
    if before is None or now.at <= before.at:
        return "–"
    used = max(0.0, now.cpu_seconds - before.cpu_seconds) / (now.at - before.at)
    return f"{min(used, now.n_cpus):.1f} of {now.n_cpus}"


def turns(now: Figures) -> str:
    """What is served and what is waiting, as a table."""
    rows = (("Pages", now.pages), ("Questions", now.engine), ("Long jobs", now.jobs))
    return _table(
        ("", "at\u00a0work", "waiting"), [(label, f"{queue.running:,}", f"{queue.waiting:,}") for label, queue in rows]
    )


def models(now: Figures) -> str:
    """The models in memory, as a table. One that is not listed stays unnamed: its name may be a path."""
    return _table(
        ("model", "runs on", "memory", "last used"),
        [
            (
                _name(model.info.id),
                f"{_DEVICES.get(model.info.device, model.info.device)}, {model.info.dtype}",
                megabytes(model.n_bytes),
                "now" if model.in_use else f"{ago(model.idle_seconds)} ago",
            )
            for model in now.models
        ],
    )


def _name(model: str) -> str:
    spec = registry.find(model)
    return "another model" if spec is None else spec.name


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, of cells that nobody typed: ``st.table`` costs more than all the rest of the page."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


_DEVICES = {"cpu": "CPU", "cuda": "GPU (cuda)", "mps": "GPU (mps)"}


def memory(now: Figures) -> str:
    return f"{megabytes(now.memory)} of {megabytes(now.memory_limit)} ({now.memory / now.memory_limit:.0%})"


def kept(now: Figures) -> str:
    """What the memory holds that can be forgotten."""
    answers = (
        f"{counted(now.engine.n_remembered, 'answer')} cached: {megabytes(now.engine.result_bytes)} of at most "
        f"{megabytes(now.engine.result_budget)}."
    )
    if not now.models:
        return f"No model is in memory. {answers}"
    return (
        f"{counted(len(now.models), 'model')} in memory: {megabytes(now.engine.model_bytes)} of at most "
        f"{megabytes(now.engine.model_budget)}. {answers}"
    )


def cluster(now: Figures) -> str:
    """What is known of the cluster that holds the models; "" where they are in this process."""
    remote = now.cluster
    if remote is None:
        return ""
    counts = (
        f"{remote.n_sent:,} questions sent, {remote.n_sent_twice:,} of them twice, {remote.n_unanswered:,} without an "
        "answer"
    )
    replicas = counted(remote.n_replicas, "replica") if remote.n_replicas else "no replica"
    return (
        f"The models run on a cluster; {replicas} answered in the last minute. Figures for models are the last ones "
        f"that replicas reported. {counts}."
    )


def history(now: Figures, zone: tzinfo) -> str:
    """When the app was started, in this time zone, and what it has done since."""
    started = datetime.fromtimestamp(now.since, zone)
    return (
        f"Started on {started.day} {started:%B %Y at %H:%M}, {ago(now.at - now.since)} ago. Since then the models "
        f"have answered {counted(now.engine.n_answered, 'question')} in {counted(now.engine.n_runs, 'run')}."
    )


def ago(seconds: float) -> str:
    """A time in its one or two largest units: "8 s", "5 min", "2 h 5 min", "3 days 4 h"."""
    minutes, hours, days = (int(max(seconds, 0.0) // unit) for unit in (60, 3600, 86_400))
    if days:
        return f"{counted(days, 'day')} {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{max(seconds, 0.0):.0f} s"


def freed(before: Figures, after: Figures) -> str:
    """What emptying the caches freed."""
    n_models = len(before.models) - len(after.models)
    n_answers = before.engine.n_remembered - after.engine.n_remembered
    n_bytes = (before.engine.model_bytes + before.engine.result_bytes) - (
        after.engine.model_bytes + after.engine.result_bytes
    )
    emptied = [counted(n, noun) for n, noun in ((n_models, "model"), (n_answers, "answer")) if n > 0]
    kept_models = f" {counted(len(after.models), 'model')} in use stayed." if after.models else ""
    if not emptied:
        return f"There was nothing to empty.{kept_models}"
    return f"Freed {megabytes(max(n_bytes, 0))}: {' and '.join(emptied)}.{kept_models}"
