"""The project as a whole: what it is installed with, no circles of imports, scripts by their own tests."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from in_deno import deno
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from benchmarks.imports import circles, import_graph, read_sources

ROOT = Path(__file__).parents[1]
FILES = sorted(ROOT.glob("requirements*.txt"))
RENEW = "the lock is renewed as CONTRIBUTING.md says, and installed by pip install -r requirements-dev.txt"


def lines(file: Path, options: bool = False) -> list[str]:
    """The lines of a file for pip that name packages, or its options."""
    written = file.read_text(encoding="utf-8").splitlines()
    return [line for line in written if line and line[0] != "#" and line.startswith("-") is options]


LOCKED = {
    canonicalize_name(requirement.name): requirement
    for requirement in map(Requirement, lines(ROOT / "constraints.txt"))
}


def version(name: str) -> Version:
    (exactly,) = LOCKED[name].specifier
    assert exactly.operator == "=="
    return Version(exactly.version)


def leads_to_it(file: Path) -> bool:
    """Whether a file names the lock, or another that does."""
    options = lines(file, options=True)
    others = [ROOT / option.removeprefix("-r ") for option in options if option.startswith("-r ")]
    return "-c constraints.txt" in options or any(map(leads_to_it, others))


def test_the_lock_has_one_version_of_each_package_from_any_index() -> None:
    """No index, no build of one machine, and no extras, which pip takes in no constraint."""
    assert lines(ROOT / "constraints.txt", options=True) == []
    assert len(lines(ROOT / "constraints.txt")) == len(LOCKED)
    for name, locked in LOCKED.items():
        assert (locked.url, locked.extras, version(name).local) == (None, set(), None), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_required_is_locked_on_every_system(file: Path) -> None:
    assert leads_to_it(file)
    for wanted in map(Requirement, lines(file)):
        name = canonicalize_name(wanted.name)
        assert name in LOCKED, f"{name}: {RENEW}"
        assert LOCKED[name].marker is None, name
        assert wanted.specifier.contains(version(name)), f"{name}: {RENEW}"


def test_what_is_required_and_all_that_it_brings_is_installed_as_locked() -> None:
    """What else is installed is its owner's business."""
    waiting = [wanted for file in FILES for wanted in map(Requirement, lines(file))]
    seen, other = set(), {}
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        try:
            needs = [Requirement(need) for need in metadata.requires(name) or ()]
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            other[name] = "not installed"
            continue
        if name not in LOCKED or not LOCKED[name].specifier.contains(installed, prereleases=True):
            other[name] = installed
        for extra in {"", *wanted.extras} - {extra for package, extra in seen if package == name}:
            seen.add((name, extra))
            waiting += [need for need in needs if not need.marker or need.marker.evaluate({"extra": extra})]
    assert other == {}, RENEW


def test_the_lock_is_made_for_the_oldest_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (oldest,) = re.findall(r"--python-version ([\d.]+)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert project["requires-python"] == f">={oldest}"


@pytest.mark.slow
def test_no_files_import_each_other() -> None:
    sources = read_sources()
    assert len(sources) > 400
    assert circles(sources) == []


def test_imports_of_every_kind_are_seen() -> None:
    cases = {
        "from a import first\n": {"a.first"},
        "def late():\n    import a.first\n": {"a.first"},
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.first import value\n": {"a.first"},
        "from importlib import import_module\nimport_module('a.first')\n": {"a.first"},
        "import numpy\n": set(),
    }
    for second, imported in cases.items():
        sources = {"a": "", "a.first": "from a import second\n", "a.second": second}
        assert import_graph(sources)["a.second"] == imported, second
        assert circles(sources) == ([["a.first", "a.second"]] if imported else []), second


@pytest.mark.slow
def test_modules_pass_their_own_tests() -> None:
    # Types are checked apart from the tests (.ci/run), against a browser's library.
    assert "0 failed" in deno("test", "--no-check", "--no-remote", "--no-npm")
