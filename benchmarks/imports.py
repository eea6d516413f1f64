"""Which file of the project imports which: at its top, inside functions, for types only, and by a name in a string."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import grimp
import networkx
from importlinter import ContractCheck
from importlinter.contracts.layers import LayersContract

ROOT = Path(__file__).parents[1]
PACKAGES = tuple(sorted(path.parent.name for path in ROOT.glob("*/__init__.py")))


def module_name(file: Path) -> str:
    """The dotted name of a file, whose path is relative to the project's folder."""
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_sources(root: Path = ROOT, packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The source of every module of the packages, by its name, without tests and the package that the others join."""
    kept = (package for package in packages if package not in ("tests", "look_inside_bert"))
    files = [file for package in kept for file in (root / package).rglob("*.py")]
    return {module_name(file.relative_to(root)): file.read_text(encoding="utf-8") for file in files}


def imported_names(source: str) -> Iterator[tuple[str, str]]:
    """Modules with the name that is taken from them, "" for the module itself; any string may be a module's name."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=aliases):
                yield from ((alias.name, "") for alias in aliases)
            case ast.ImportFrom(module=str(module), names=aliases):
                yield from ((module, alias.name) for alias in aliases)
            case ast.Constant(value=str(text)) if "." in text:
                yield text, ""


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """For each module the other modules of ``sources`` that it imports."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        starts = ((start.removeprefix("look_inside_bert."), name) for start, name in imported_names(source))
        names = (f"{start}.{name}" if f"{start}.{name}" in sources else start for start, name in starts)
        graph[module] = {name for name in names if name in sources and name != module}
    return graph


def circles(sources: Mapping[str, str]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others of the group; the largest first."""
    graph = networkx.DiGraph(import_graph(sources))
    groups = (sorted(group) for group in networkx.strongly_connected_components(graph) if len(group) > 1)
    return sorted(groups, key=len, reverse=True)


class LayersWithStrings(LayersContract):
    """import-linter's layers, which modules named in strings do not escape either."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        """Check the graph with the imports added that grimp does not see."""
        for importer, modules in import_graph(read_sources()).items():
            for imported in modules:
                if {importer, imported} <= graph.modules and not graph.direct_import_exists(
                    importer=importer, imported=imported
                ):
                    graph.add_import(importer=importer, imported=imported)
        return super().check(graph, verbose)
