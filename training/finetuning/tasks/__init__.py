"""The kinds of tasks, one file each; imports torch."""

from __future__ import annotations

from importlib import import_module

from training.finetuning.data import KINDS, Kind
from training.finetuning.tasks.base import Task

TASKS: dict[Kind, Task] = {kind: import_module(f"{__name__}.{kind}").TASK for kind in KINDS}
"""By the name of their file, which is that of their kind."""
