"""Which models there are, loading them, keeping them in memory, running them.

``from model_zoo import Engine`` imports no torch; the engine does, when it first runs a model. It is imported when
somebody asks for it: where models run elsewhere, nobody does.
"""

from typing import TYPE_CHECKING, Any

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
from model_zoo.registry import DEFAULT_MODEL

if TYPE_CHECKING:
    from model_zoo.engine import Engine

__all__ = ["DEFAULT_MODEL", "Engine"]


def __getattr__(name: str) -> Any:
    if name != "Engine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from model_zoo.engine import Engine

    return Engine
