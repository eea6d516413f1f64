"""The built-in sets, found by themselves: each module here has its own as ``SET``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from training.finetuning.data import KINDS, BuiltIn


def find_sets() -> dict[str, BuiltIn]:
    """All sets of the modules in this folder by name, in the order of their kinds."""
    found: list[BuiltIn] = [import_module(f"{__name__}.{module.name}").SET for module in iter_modules(__path__)]
    return {one.name: one for one in sorted(found, key=lambda one: (KINDS.index(one.kind), one.title))}


SETS: dict[str, BuiltIn] = find_sets()
