"""Look inside BERT and its relatives from Python: ``from look_inside_bert import Engine, finetune, read, survey``.

The project's rooms are modules of this package, ``look_inside_bert.viz.notebook`` and the like. What is imported from
the package itself imports no torch before a model runs.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evidence import survey
    from model_zoo import DEFAULT_MODEL, Engine
    from model_zoo.version import __version__
    from reading import read
    from training import finetune
    from training.finetuning.prepare import prepare

_HOMES = {
    "DEFAULT_MODEL": "look_inside_bert.model_zoo",
    "Engine": "look_inside_bert.model_zoo",
    "__version__": "look_inside_bert.model_zoo.version",
    "finetune": "look_inside_bert.training",
    "prepare": "look_inside_bert.training.finetuning.prepare",
    "read": "look_inside_bert.reading",
    "survey": "look_inside_bert.evidence",
}
"""Where its names are defined."""

__all__ = ["DEFAULT_MODEL", "Engine", "__version__", "finetune", "prepare", "read", "survey"]

if not Path(__file__).with_name("model_zoo").exists():
    from look_inside_bert.checkout import join_rooms

    join_rooms()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
