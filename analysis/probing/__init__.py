"""Which layer knows what: linear probes on every layer, with the controls that keep the answer honest.

``TASKS`` are the built-in tasks, ``readers`` read the user's own; ``probe`` does one task, ``run`` many and
tells as it goes.
"""

from analysis.probing.baselines import Baseline
from analysis.probing.data import Dataset, Task
from analysis.probing.study import (
    Event,
    Failed,
    LayerResult,
    Progress,
    Settings,
    TaskMap,
    TaskResult,
    WrongExample,
    frame,
    probe,
    run,
)
from analysis.probing.tasks import TASKS

__all__ = [
    "TASKS",
    "Baseline",
    "Dataset",
    "Event",
    "Failed",
    "LayerResult",
    "Progress",
    "Settings",
    "Task",
    "TaskMap",
    "TaskResult",
    "WrongExample",
    "frame",
    "probe",
    "run",
]
