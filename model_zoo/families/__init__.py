"""Where a model family differs from the rest: one file a family, nothing for those that follow the rule.

The rule is ``rule.Family``. A family that differs is a subclass of it in a file here, named as its config's
``model_type`` ("deberta-v2" in ``deberta_v2.py``); it is found by itself. A file may hold a network that transformers
does not know: importing this package registers it.
"""

from __future__ import annotations

import importlib
import pkgutil

from model_zoo.families.rule import Family, Head

__all__ = ["FAMILIES", "Family", "Head", "family_of"]


def _import_families() -> dict[str, Family]:
    families: dict[str, Family] = {}
    for file in pkgutil.iter_modules(__path__, f"{__name__}."):
        for member in vars(importlib.import_module(file.name)).values():
            if isinstance(member, type) and issubclass(member, Family) and member.__module__ == file.name:
                families |= dict.fromkeys(member.model_types, member())
    return families


FAMILIES: dict[str, Family] = _import_families()
"""Those that differ, by ``model_type``."""


def family_of(model_type: str) -> Family:
    """The family of a config; the rule where none differs."""
    return FAMILIES.get(model_type, Family())
