"""Which models there are, loading them, keeping them in memory, running them.

``from model_zoo import Engine`` imports no torch; the engine does, when it first runs a model.
"""

from model_zoo.engine import Engine
from model_zoo.registry import DEFAULT_MODEL

__all__ = ["DEFAULT_MODEL", "Engine"]
