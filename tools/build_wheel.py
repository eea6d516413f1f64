"""What hatch does beside its settings to build a wheel: the rooms lie in ``look_inside_bert`` there, and import each
other from there.
"""

import ast
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "look_inside_bert"


def rename_imports(source: bytes, rooms: Collection[str]) -> bytes:
    """A module's source with ``from viz.grid import grid`` as ``from look_inside_bert.viz.grid import grid``, ``import
    viz`` as ``import look_inside_bert.viz as viz``, and what binds ``viz`` and imports a module of it as both.
    """
    places = []  # line, byte, what stands there, and what takes its place
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module), level=0):
                places.append((node.lineno, node.col_offset + len("from "), module, f"{PACKAGE}.{module}"))
            case ast.Import(names=aliases):
                for alias in aliases:
                    name, room = alias.name, alias.name.partition(".")[0]
                    inside = f"{PACKAGE}.{name}, " if name != room else ""
                    after = f"{PACKAGE}.{name}" if alias.asname else f"{inside}{PACKAGE}.{room} as {room}"
                    places.append((alias.lineno, alias.col_offset, name, after))
    lines = source.splitlines(keepends=True)
    for line, byte, before, after in sorted(places, reverse=True):
        if before.partition(".")[0] in rooms:
            start, end = lines[line - 1][:byte], lines[line - 1][byte:]
            lines[line - 1] = start + end.replace(before.encode(), after.encode(), 1)
    return b"".join(lines)


class WheelHook(BuildHookInterface[Any]):
    """Puts changed modules in the places of the rooms' own."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the files are taken."""
        if version == "editable":
            return  # look_inside_bert/checkout.py joins the rooms
        self._folder = TemporaryDirectory()  # removed with this object
        files = self.build_config.builder.recurse_selected_project_files()
        sources = {file.relative_path: Path(file.path) for file in files if file.path.endswith(".py")}
        rooms = {Path(name).parts[0] for name in sources}
        sources["__init__.py"] = Path(self.root, PACKAGE, "__init__.py")
        for number, (name, file) in enumerate(sources.items()):
            changed = Path(self._folder.name, f"{number}.py")
            changed.write_bytes(rename_imports(file.read_bytes(), rooms))
            build_data["force_include"][str(changed)] = name
