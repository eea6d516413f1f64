"""The built-in probing tasks, found by themselves: each module here lists its own in ``TASKS``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from analysis.probing.data import Task


def find_tasks() -> dict[str, Task]:
    """All tasks of the modules in this folder by name: surface first, then syntax, then meaning."""
    tasks: list[Task] = []
    for module in iter_modules(__path__):
        tasks.extend(import_module(f"{__name__}.{module.name}").TASKS)
    order = ("surface", "syntax", "meaning")
    return {task.name: task for task in sorted(tasks, key=lambda task: (order.index(task.kind), task.level))}


TASKS: dict[str, Task] = find_tasks()
