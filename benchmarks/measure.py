"""What the benchmarks share: arguments, medians after a warm-up, figures to reach, and a JSON object a line."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any


def arguments(doc: str | None, repeats: int | None = None, model: str | None = None) -> argparse.ArgumentParser:
    """The parser of a benchmark's command line, with ``--repeats`` and ``--model`` where those have a default."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats)
    if model is not None:
        parser.add_argument("--model", default=model)
    return parser


def interleaved(tasks: Mapping[str, Callable[[int], float]], repeats: int, warm_up: int) -> dict[str, float]:
    """Median of what each task measures; it is told the number of the round, from 0. Every round runs all tasks, so a
    slow moment slows them all; those of the warm-up do not count.
    """
    measured: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(warm_up + repeats):
        for name, task in tasks.items():
            measured[name].append(task(number))
    return {name: statistics.median(values[warm_up:]) for name, values in measured.items()}


def medians(tasks: Mapping[str, Callable[[], object]], repeats: int, warm_up: int = 2) -> dict[str, float]:
    """Median milliseconds of each task, interleaved."""
    return interleaved({name: partial(_milliseconds, task) for name, task in tasks.items()}, repeats, warm_up)


def _milliseconds(task: Callable[[], object], _number: int) -> float:
    start = time.perf_counter()
    task()
    return (time.perf_counter() - start) * 1000


def columns(rows: Iterable[Sequence[Any]]) -> list[Any]:
    """The median of each column of equal rows; of a column of names, the name."""
    return [
        values[0] if isinstance(values[0], str) else statistics.median(values) for values in zip(*rows, strict=True)
    ]


def percentile95(values: Iterable[float]) -> float | None:
    """The value that 95% of the values are not above; None of none."""
    ordered = sorted(values)
    return ordered[int(0.95 * len(ordered))] if ordered else None


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells under the names of their columns, in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def emit(**fields: Any) -> None:
    """One JSON object per line; numbers rounded to what the clock can tell."""
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in fields.items()}), flush=True)


def emit_machine(**more: Any) -> None:
    """The line that comes first where others may use the same machine."""
    emit(cores=os.cpu_count(), load_before=os.getloadavg()[0], **more)


def at_most(name: str, value: float | None, target: float) -> None:
    """Emit a figure that should not be above its target; one that could not be measured was not reached."""
    emit(figure=name, value=value, target=target, reached=value is not None and value <= target)


def at_least(name: str, value: float | None, target: float) -> None:
    """Emit a figure that should not be below its target; one that could not be measured was not reached."""
    emit(figure=name, value=value, target=target, reached=value is not None and value >= target)
