"""The settings of an engine: name, default, bound and meaning, for web processes and for the replicas of a cluster.

Imports no torch. A notebook gives ``Engine`` its arguments and needs none of this.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field

from model_zoo.machine import memory_limit
from model_zoo.types import MB, Pickles


def of_machine(value: Callable[[], Any], said: str, **options: Any) -> Any:
    """A field whose default follows the machine; ``said`` is how that is written down."""
    return Field(default_factory=value, json_schema_extra={"said": said}, **options)


def share_of_memory(share: float, most: float = float("inf")) -> int:
    """MB that are a share of the machine's memory, at least 1 and at most ``most``."""
    return max(1, int(min(share * memory_limit() / MB, most)))


class EngineSettings(BaseModel):
    """What whoever runs the app can set of its engine. A field here is all that a new setting needs beside the argument
    of ``Engine`` that it is for.
    """

    any_model: bool = Field(
        default=True, description="Whether visitors may name any model of the hub or a folder, or only listed ones."
    )
    model_memory_mb: int | None = of_machine(
        lambda: None,
        "40% of the memory, or 70% of a GPU's",
        gt=0,
        description="Memory of all models together, MB.",
    )
    result_memory_mb: int = of_machine(
        lambda: share_of_memory(0.05, 48),
        "5% of the memory, at most 48",
        gt=0,
        description="Memory of remembered answers, MB.",
    )
    process_memory_mb: int = of_machine(
        lambda: share_of_memory(0.85),
        "85% of the memory",
        gt=0,
        description="Memory of the process beyond which answers, then idle models, are forgotten, MB.",
    )
    download_mb: int | None = Field(
        default=None, gt=0, description="Disk that downloaded models may take together, MB; no bound where not set."
    )
    pickles: Pickles = Field(
        default="any",
        description="Whose weights are converted where they are published as pickles (`pytorch_model.bin`): nobody's "
        "(`never`), those of listed models (`listed`), or all (`any`). A pickle is opened in a process of its own.",
    )
    runs: int = of_machine(
        lambda: min(4, os.cpu_count() or 1),
        "one a core, at most 4",
        gt=0,
        description="Model runs at a time; others wait.",
    )
    threads: int = of_machine(
        lambda: max(1, (os.cpu_count() or 1) // 4),
        "one for four cores",
        gt=0,
        description="Torch's threads for each run.",
    )
    batch: int = Field(
        default=8, gt=0, description="Waiting questions of one kind and model that are run together at most."
    )

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``Engine``: those of the same names, and ``model_bytes`` for ``model_memory_mb``,
        ``download_bytes`` for ``download_mb`` and so on.
        """
        found = {}
        for name in EngineSettings.model_fields:
            value = getattr(self, name)
            if name.endswith("_mb"):
                name = f"{name.removesuffix('_mb').removesuffix('_memory')}_bytes"
                value = None if value is None else value * MB
            found[name] = value
        return found
