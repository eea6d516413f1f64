"""The results of a study of probes: its progress, and the results of each layer and task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Literal

import numpy as np
import pandas as pd

from analysis.paired import holm
from analysis.probing.baselines import Baseline
from analysis.probing.data import Level
from analysis.probing.layers import Depth
from analysis.probing.settings import Settings
from model_zoo.types import FloatArray, Shows

Stage = Literal["encoding", "probing"]

SIGNIFICANT = 0.05  # p below which a difference counts as one


@dataclass(frozen=True, slots=True)
class WrongExample:
    """A misclassified test item, with the probability the probe gave to its own answer."""

    text: str
    word: str | None
    label: str
    predicted: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """One probe: a task at a layer (0 are the embeddings). Accuracies are shares in [0, 1] of the test items.

    ``low`` and ``high`` are the 95 % interval over texts (``intervals.of_right``). ``untrained_accuracy`` is that of
    random weights. ``selectivity`` is accuracy - control_accuracy; bits are the description length, ``compression`` how
    many times shorter than the uniform code. None: not asked.
    """

    task: str
    layer: int
    accuracy: float
    low: float
    high: float
    development_accuracy: float
    untrained_accuracy: float | None
    control_accuracy: float | None
    selectivity: float | None
    bits: float | None
    compression: float | None
    wrong: tuple[WrongExample, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult(Shows):
    """All layers of a task, and what they are measured against.

    All probes have the same ``c``, the best on the development items of all layers together. ``baselines`` are
    classifiers without vectors, the majority first; ``random_weights`` is the best layer, chosen as the model's is, of
    random weights of the same shape, None where not asked. ``expected_layer`` and ``centre_of_gravity`` are None where
    something is ``not_beaten``. ``p`` holds, layer by layer, the p of equal accuracy with every layer. ``accuracies``
    are those of all seeds (seeds, layers + 1), the first row being that of ``layers``. ``skipped`` items had no vector
    (beyond the model's limit). The longest text was read as ``longest`` tokens.
    """

    task: str
    level: Level
    labels: tuple[str, ...] = field(repr=False)
    n_train: int
    n_development: int
    n_test: int
    c: float
    baselines: tuple[Baseline, ...] = field(repr=False)
    random_weights: Baseline | None = field(repr=False)
    expected_layer: Depth | None
    centre_of_gravity: Depth | None
    layers: tuple[LayerResult, ...] = field(repr=False)
    p: tuple[tuple[float, ...], ...] = field(repr=False)
    accuracies: tuple[tuple[float, ...], ...] = field(repr=False)
    skipped: int
    longest: int
    notes: tuple[str, ...] = field(repr=False)
    settings: Settings = field(repr=False)

    @property
    def majority(self) -> float:
        """The accuracy of always giving the label most frequent in training."""
        return self.baselines[0].accuracy

    @property
    def without_model(self) -> Baseline:
        """The best of the classifiers without vectors, the majority among them."""
        return max(self.baselines, key=lambda judge: judge.accuracy)

    @property
    def best(self) -> LayerResult:
        """The layer best on the development items, the lowest among equals: chosen without the test items, so that its
        accuracy on them is not the luckiest of many.
        """
        return max(self.layers, key=lambda layer: (layer.development_accuracy, -layer.layer))

    @property
    def not_beaten(self) -> tuple[str, ...]:
        """What the best layer does not beat (``paired_p``, 5 %): baselines, "embeddings", "random weights"."""
        best, embeddings = self.best, self.layers[0]
        others = [(judge.name, judge.accuracy, judge.p) for judge in self.baselines]
        others.append(("embeddings", embeddings.accuracy, self.p[best.layer][0]))
        if self.random_weights is not None:
            others.append((self.random_weights.name, self.random_weights.accuracy, self.random_weights.p))
        return tuple(name for name, accuracy, p in others if best.accuracy <= accuracy or p >= SIGNIFICANT)

    @property
    def as_good(self) -> tuple[int, ...]:
        """The layers whose accuracy does not differ from the best one's beyond chance (Holm 1979 over the others)."""
        return not_set_apart(self.p, self.best.layer)

    def to_frame(self) -> pd.DataFrame:
        """One row per layer with baselines and settings; of several seeds mean, lowest and highest accuracy."""
        shared: dict[str, object] = {
            "level": self.level,
            "classes": len(self.labels),
            "n_train": self.n_train,
            "n_development": self.n_development,
            "n_test": self.n_test,
            "c": self.c,
            **{baseline.name.replace(" ", "_"): baseline.accuracy for baseline in self.baselines},
            "best_layer": self.best.layer,
            "not_beaten": ", ".join(self.not_beaten),
        }
        for name in ("expected_layer", "centre_of_gravity"):
            depth: Depth | None = getattr(self, name)
            shared |= {
                name: None if depth is None else depth.value,
                f"{name}_low": None if depth is None else depth.low,
                f"{name}_high": None if depth is None else depth.high,
            }
        numbers = [field.name for field in fields(LayerResult) if field.name != "wrong"]
        seeds = np.array(self.accuracies)
        rows = [
            {
                **{name: getattr(layer, name) for name in numbers},
                "p_best": self.p[self.best.layer][layer.layer],
                "mean_of_seeds": seeds[:, layer.layer].mean(),
                "lowest_of_seeds": seeds[:, layer.layer].min(),
                "highest_of_seeds": seeds[:, layer.layer].max(),
                **shared,
                **asdict(self.settings),
            }
            for layer in self.layers
        ]
        return pd.DataFrame(rows)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is: ``done`` of ``total`` sentences of these tasks encoded, or steps of probing the task done.

    ``of`` names the round where there are several: "" for the trained model and the first seed, else "random weights"
    or "seed 3".
    """

    tasks: tuple[str, ...] = field(repr=False)
    stage: Stage
    done: int
    total: int
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMap(Shows):
    """Some test items of a task, seen in each layer: their two principal components and the layers' similarity.

    points (layers + 1, n, 2), explained (layers + 1, 2), cka (layers + 1, layers + 1); texts, words and
    labels have length n (words is None at sentence level).
    """

    task: str
    points: FloatArray = field(repr=False)
    explained: FloatArray = field(repr=False)
    cka: FloatArray = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    words: tuple[str, ...] | None = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row a layer and item: layer, text, word ("" at sentence level), label, component_1, component_2."""
        n_layers, n, _ = self.points.shape
        return pd.DataFrame(
            {
                "layer": np.repeat(np.arange(n_layers), n),
                "text": self.texts * n_layers,
                "word": (self.words or ("",) * n) * n_layers,
                "label": self.labels * n_layers,
                "component_1": self.points[:, :, 0].ravel(),
                "component_2": self.points[:, :, 1].ravel(),
            }
        )


@dataclass(frozen=True, slots=True)
class Failed:
    """A task that could not be done, and why, in words for the screen. The other tasks continue."""

    task: str
    reason: str


Event = Progress | TaskMap | LayerResult | TaskResult | Failed


def frame(results: Sequence[TaskResult]) -> pd.DataFrame:
    """All results as one table: one row per task and layer."""
    return pd.concat([result.to_frame() for result in results], ignore_index=True)


def not_set_apart(p: Sequence[Sequence[float]], best: int) -> tuple[int, ...]:
    """The layers that cannot be told from the best one: those whose p of equality with it, ``p[best]``, is not below 5
    % over all others (Holm 1979), and the best one itself.
    """
    others = [layer for layer in range(len(p)) if layer != best]
    corrected = holm([p[best][layer] for layer in others])
    different = {layer for layer, value in zip(others, corrected, strict=True) if value < SIGNIFICANT}
    return tuple(layer for layer in range(len(p)) if layer not in different)
