"""The machine that this process runs on, or the container's share of it."""

from __future__ import annotations

from pathlib import Path

import psutil

# Where a container's limit is written, cgroup 2 and 1.
CGROUPS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory_limit() -> int:
    """The machine's memory, or the container's share of it, in bytes."""
    limits = [psutil.virtual_memory().total]
    for path in CGROUPS:
        try:
            limits.append(int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return min(limits)


def resident() -> int:
    """Bytes of memory that this process takes."""
    return int(psutil.Process().memory_info().rss)
