"""Which layer knows what: linear probes on every layer, with the controls that keep the answer honest.

``TASKS`` are the built-in tasks, ``readers`` read the user's own; ``probe`` does one task, ``run`` many and reports as
it goes. ``structural_probe`` looks for entire parse trees in a ``Treebank``.
"""

from analysis.probing.baselines import Baseline
from analysis.probing.data import Dataset, Task
from analysis.probing.layers import Depth
from analysis.probing.results import (
    Event,
    Failed,
    LayerResult,
    Progress,
    TaskMap,
    TaskResult,
    WrongExample,
    frame,
)
from analysis.probing.settings import Settings
from analysis.probing.structural_results import StructuralLayer, StructuralResult
from analysis.probing.structural_study import StructuralTask, structural_probe
from analysis.probing.study import probe, run
from analysis.probing.tasks import TASKS
from analysis.probing.trees import Tree, Treebank

__all__ = [
    "TASKS",
    "Baseline",
    "Dataset",
    "Depth",
    "Event",
    "Failed",
    "LayerResult",
    "Progress",
    "Settings",
    "StructuralLayer",
    "StructuralResult",
    "StructuralTask",
    "Task",
    "TaskMap",
    "TaskResult",
    "Tree",
    "Treebank",
    "WrongExample",
    "frame",
    "probe",
    "run",
    "structural_probe",
]
