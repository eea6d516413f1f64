"""The machine that this process runs on, or its container's or service's share of it."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil


def _cgroups(root: Path, membership: Path) -> tuple[Path, ...]:
    """Where limits are written: a container's, cgroup 2 and 1, then those of the process's groups, which ``own`` names,
    and of the groups that these are in, as systemd sets them.
    """
    names = {"": root / "memory.max", "memory": root / "memory/memory.limit_in_bytes"}
    folders = list(names.values())
    with suppress(OSError):
        for _, controllers, path in (line.split(":", 2) for line in membership.read_text("utf-8").splitlines()):
            file = next((names[controller] for controller in controllers.split(",") if controller in names), None)
            if file is not None:
                group = path.strip("/").split("/")
                folders += [file.parent.joinpath(*group[:n], file.name) for n in range(len(group), 0, -1)]
    return tuple(dict.fromkeys(folders))


CGROUPS = _cgroups(Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"))

_USED = {"memory.max": "memory.current", "memory.limit_in_bytes": "memory.usage_in_bytes"}
_COPIES = ("active_file", "inactive_file")  # of files on a disk; what lies in a tmpfs is not among them


def memory_limit() -> int:
    """The machine's memory, or the share of it that the process may take, in bytes."""
    limits = [psutil.virtual_memory().total]
    for path in CGROUPS:
        try:
            limits.append(int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return min(limits)


def memory_left() -> int:
    """Bytes of memory, or of the container's share of it, that are free or hold copies of files on a disk."""
    left = [psutil.virtual_memory().available]
    for path in CGROUPS:
        try:
            limit = int(path.read_text(encoding="ascii"))
            used = int(path.with_name(_USED[path.name]).read_text(encoding="ascii"))
            lines = path.with_name("memory.stat").read_text(encoding="ascii").splitlines()
        except (OSError, ValueError):  # not there, or "max"
            continue
        kinds = {name.removeprefix("total_"): int(n) for name, n in map(str.split, lines)}
        left.append(limit - used + sum(kinds[name] for name in _COPIES))
    return max(0, min(left))


@cache
def is_memory_backed(place: Path) -> bool:
    """Whether files in this folder, which need not exist, take memory: it lies in a tmpfs."""
    place = place.resolve()
    mounts = [mount for mount in psutil.disk_partitions(all=True) if place.is_relative_to(mount.mountpoint)]
    deepest = max(mounts[::-1], key=lambda mount: len(mount.mountpoint), default=None)  # of two at a place the last
    return deepest is not None and deepest.fstype in ("tmpfs", "ramfs")


def resident() -> int:
    """Bytes of memory that this process takes."""
    return int(psutil.Process().memory_info().rss)
