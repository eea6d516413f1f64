"""No modules of the project import each other in a circle, at their top or inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from packages import PACKAGES, ROOT


def module_name(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those below ``if TYPE_CHECKING:``, which never run."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING"):
        return
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from nodes(child)


def imported(source: str) -> Iterator[tuple[str, str]]:
    """What a module imports: modules, with the name that is taken from one, or "" without."""
    for node in nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            yield from ((node.module, alias.name) for alias in node.names)


def graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """For each of the modules, by name with their source, those of the others that it imports."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        names = ((f"{of}.{name}" if f"{of}.{name}" in sources else of) for of, name in imported(source))
        found[module] = {name for name in names if name in sources and name != module}
    return found


def circle(sources: dict[str, str]) -> list[str]:
    """Modules of which each imports the one before it, the first one the last; none where there is no circle."""
    try:
        TopologicalSorter(graph(sources)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.slow
def test_no_modules_import_each_other() -> None:
    files = [file.relative_to(ROOT) for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    sources = {module_name(file): (ROOT / file).read_text(encoding="utf-8") for file in files}
    assert len(sources) > 400
    assert circle(sources) == []


@pytest.mark.parametrize(
    ("second", "found"),
    [
        ("from a import one\n", True),
        ("def late():\n    import a.one\n", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import one\n", False),
        ("import numpy\n", False),
    ],
)
def test_a_circle_is_found(second: str, found: bool) -> None:
    sources = {"a": "", "a.one": "from a import two\n", "a.two": second}
    assert set(circle(sources)) == ({"a.one", "a.two"} if found else set())
