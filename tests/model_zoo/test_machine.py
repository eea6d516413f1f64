"""How much memory there is and is left, in a container too, and which folders lie in it."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from model_zoo import machine

V2 = {
    "memory.max": "1500",
    "memory.current": "1200",
    "memory.stat": "anon 700\nfile 450\nshmem 250\ninactive_file 150\nactive_file 50\n",
}
V1 = {
    "memory.limit_in_bytes": "1500",
    "memory.usage_in_bytes": "1200",
    "memory.stat": "inactive_file 1\nactive_file 1\ntotal_inactive_file 150\ntotal_active_file 50\n",
}


@pytest.mark.parametrize("limit", ["as a whole", "its own group alone"])
@pytest.mark.parametrize(
    ("files", "folder", "line"),
    [(V1, "memory", "4:cpu,memory:/system.slice/bert.service"), (V2, "", "0::/system.slice/bert.service")],
    ids=["cgroup 1", "cgroup 2"],
)
def test_the_groups_of_a_process_are_found_and_the_narrowest_limit_counts(
    files: dict[str, str], folder: str, line: str, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container may show its own group as if there were no other, and yet name it by its whole path."""
    (tmp_path / "own").write_text(f"9:name=systemd:/\n{line}\n5:devices:/other", encoding="ascii")
    service = tmp_path / folder if limit == "its own group alone" else tmp_path / folder / "system.slice/bert.service"
    service.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (service / name).write_text(text, encoding="ascii")
    monkeypatch.setattr(machine, "CGROUPS", machine._cgroups(tmp_path, tmp_path / "own"))
    assert machine.memory_limit() == 1500
    assert machine.memory_left() == 1500 - 1200 + 150 + 50
    if limit == "as a whole":
        for name, text in files.items():
            (service.parent / name).write_text(text.replace("1500", "1400"), encoding="ascii")
        assert machine.memory_limit() == 1400
        assert machine.memory_left() == 1400 - 1200 + 150 + 50


def test_where_there_are_no_groups_the_machine_counts(tmp_path: Path) -> None:
    assert [path.exists() for path in machine._cgroups(tmp_path, tmp_path / "own")] == [False, False]


def test_elsewhere_that_of_the_machine_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text("max", encoding="ascii")
    monkeypatch.setattr(machine, "CGROUPS", (tmp_path / "memory.max",))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=5000, available=3000))
    assert machine.memory_left() == 3000


@pytest.fixture
def mounts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    every = [("/", "overlay"), ("/tmp", "ext4"), ("/tmp", "tmpfs"), ("/tmp/on a disk", "ext4"), ("/t", "ramfs")]
    mounted = [SimpleNamespace(mountpoint=place, fstype=kind) for place, kind in every]
    monkeypatch.setattr(psutil, "disk_partitions", lambda *, all: mounted if all else [])
    machine.is_memory_backed.cache_clear()
    yield
    machine.is_memory_backed.cache_clear()


@pytest.mark.usefixtures("mounts")
@pytest.mark.parametrize(
    ("place", "expected"),
    [("/", False), ("/var", False), ("/tmp", True), ("/tmp/a/b", True), ("/tmp/on a disk/a", False), ("/t/a", True)],
)
def test_a_folder_lies_in_memory_where_its_mount_does(place: str, expected: bool) -> None:
    assert machine.is_memory_backed(Path(place)) is expected
