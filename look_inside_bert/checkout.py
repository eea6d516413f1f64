"""The package in a checkout, whose rooms lie beside it: ``look_inside_bert.viz`` and ``viz`` are the same module there.

Each module is loaded as part of the package, whatever name it is imported by first: every room begins with ``import
look_inside_bert``. So classes are called the same as where a wheel is installed, and pickles are read in both. A wheel
has no such file.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

PACKAGE = "look_inside_bert"
ROOT = Path(__file__).parents[1]
ROOMS = {file.parent.name for file in ROOT.glob("*/__init__.py")} - {"benchmarks", PACKAGE}


class _SameModule(SourceFileLoader):
    """Gives the module of the package that has a file, instead of a second one; loaded before it has this name, too, so
    that no thread gets it sooner.
    """

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"{PACKAGE}.{spec.name}")
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # Python has put the other one there


class _Rooms(MetaPathFinder):
    """Finds a room by either name; by its short one where Python would find that file, and not another project's."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package == PACKAGE and name in ROOMS:
            return PathFinder.find_spec(fullname, [str(ROOT)])
        spec = PathFinder.find_spec(fullname, path) if package in ROOMS else None
        if spec is None or not _is_ours(fullname, spec.origin):
            return None
        spec.loader = _SameModule(fullname, str(spec.origin))
        return spec


def _is_ours(name: str, file: str | None) -> bool:
    """Whether the file of a module, by the short name, lies in the room of that name."""
    return file is not None and Path(file).is_relative_to(ROOT / name.partition(".")[0])


def join_rooms() -> None:
    """Find rooms from now on; in the place of the room that has begun to be imported comes its module."""
    sys.meta_path.insert(0, _Rooms())
    for name in ROOMS & sys.modules.keys():
        if _is_ours(name, getattr(sys.modules[name], "__file__", None)):
            sys.modules[name] = import_module(f"{PACKAGE}.{name}")
