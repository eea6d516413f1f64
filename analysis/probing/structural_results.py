"""What the structural probe tells: scores of trees, layer by layer, and the trees found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from analysis.probing.results import not_set_apart
from analysis.probing.settings import Settings
from model_zoo.types import Shows

Edges = tuple[tuple[int, int], ...]

MEASURES: Final = ("uuas", "distance_spearman", "root_accuracy", "depth_spearman")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of the test sentences with its 95 % interval: ``intervals.of_right``, or bootstrap (correlations)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What trees are scored by, on the test sentences.

    ``uuas`` is the share of the trees' edges that the minimum spanning tree of the distances has, ``root_accuracy`` the
    share of sentences whose root has the least depth; both without punctuation. ``distance_spearman`` and
    ``depth_spearman`` are rank correlations, averaged over sentences of a length and then over the lengths 5 to 50;
    None where the file has no test sentence of such a length. ``root_accuracy`` is None where no root can be scored.
    """

    uuas: Estimate
    distance_spearman: Estimate | None
    root_accuracy: Estimate | None
    depth_spearman: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuralLayer:
    """Both probes at a layer (0 are the embeddings). ``development_uuas`` is that on the development sentences.

    ``untrained`` are the scores with random weights, None where they were not asked for. ``p_chain`` and
    ``p_untrained`` are the p of a UUAS equal to that of the chain and of random weights (``paired_p``).
    """

    task: str
    layer: int
    scores: Scores
    development_uuas: float
    epochs: int
    untrained: Scores | None
    p_chain: float
    p_untrained: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSentence:
    """A test sentence, its tree, and the trees found at each layer; edges are places of words, the lower one first.

    ``roots`` are the words of least depth, one per layer; ``root`` is None where it cannot be scored.
    """

    text: str
    words: tuple[str, ...] = field(repr=False)
    punctuation: tuple[bool, ...] = field(repr=False)
    edges: Edges
    root: int | None
    recovered: tuple[Edges, ...] = field(repr=False)
    roots: tuple[int, ...] = field(repr=False)

    def right(self, layer: int) -> int:
        """How many of the tree's edges were found at a layer."""
        return len(set(self.edges) & set(self.recovered[layer]))


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuralResult(Shows):
    """All layers, and what they are measured against.

    ``chain`` are the scores of distances counted in words and depths counted from the first word, without a model.
    ``p`` holds, layer by layer, the p of a UUAS equal to every layer's. ``uuas_of_seeds`` are those of all seeds
    (seeds, layers + 1), the first row being that of ``layers``. ``sentences`` are some of the test sentences.
    ``skipped`` sentences were longer than the model reads. The longest text was read as ``longest`` tokens.
    """

    task: str
    rank: int
    n_train: int
    n_development: int
    n_test: int
    chain: Scores
    layers: tuple[StructuralLayer, ...] = field(repr=False)
    p: tuple[tuple[float, ...], ...] = field(repr=False)
    uuas_of_seeds: tuple[tuple[float, ...], ...] = field(repr=False)
    sentences: tuple[ParsedSentence, ...] = field(repr=False)
    skipped: int
    longest: int
    notes: tuple[str, ...] = field(repr=False)
    settings: Settings = field(repr=False)

    @property
    def best(self) -> StructuralLayer:
        """The layer of the highest UUAS on the development sentences, the lowest among equals."""
        return max(self.layers, key=lambda layer: (layer.development_uuas, -layer.layer))

    @property
    def as_good(self) -> tuple[int, ...]:
        """The layers whose UUAS does not differ from the best one's beyond chance (Holm 1979 over the others)."""
        return not_set_apart(self.p, self.best.layer)

    def to_frame(self) -> pd.DataFrame:
        """One row per layer, with the chain, the counts and the settings in each row."""
        shared = {
            **_columns("chain_", self.chain),
            "rank": self.rank,
            "n_train": self.n_train,
            "n_development": self.n_development,
            "n_test": self.n_test,
            "best_layer": self.best.layer,
        }
        seeds = np.array(self.uuas_of_seeds)
        chosen = asdict(self.settings)
        settings = {
            name: chosen[name] for name in ("sentences", "pieces", "untrained", "seed", "seeds", "bootstrap_draws")
        }
        return pd.DataFrame(
            [
                {
                    "task": self.task,
                    "layer": layer.layer,
                    **_columns("", layer.scores),
                    "development_uuas": layer.development_uuas,
                    "epochs": layer.epochs,
                    **(_columns("untrained_", layer.untrained) if layer.untrained else {}),
                    "p_chain": layer.p_chain,
                    "p_untrained": layer.p_untrained,
                    "p_best": self.p[self.best.layer][layer.layer],
                    "lowest_of_seeds": seeds[:, layer.layer].min(),
                    "highest_of_seeds": seeds[:, layer.layer].max(),
                    **shared,
                    **settings,
                }
                for layer in self.layers
            ]
        )


def _columns(prefix: str, scores: Scores) -> dict[str, float | None]:
    columns: dict[str, float | None] = {}
    for measure in MEASURES:
        estimate: Estimate | None = getattr(scores, measure)
        for part, name in (("value", ""), ("low", "_low"), ("high", "_high")):
            columns[f"{prefix}{measure}{name}"] = None if estimate is None else getattr(estimate, part)
    return columns
