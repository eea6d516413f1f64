"""How to probe: the settings of a study."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.probing.classifier import ProbeKind
from analysis.probing.features import Pieces, Pooling
from model_zoo.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to probe; all of it, with the seed, goes into the link and the table, so that a run can be repeated.

    ``sentences`` per task (all parts together). ``pooling`` makes a sentence's vector, ``pieces`` a word's. ``kind`` is
    the probe's. ``control`` and ``mdl`` add the control task and the description length, ``untrained`` the same probes
    on a model of the same shape with random weights. ``seeds`` repeats all with other sentences, or another split, from
    the seeds ``seed``, ``seed`` + 1 and so on. ``wrong`` is the number of misclassified examples per layer,
    ``map_items`` that of test items in the picture of a layer, ``bootstrap_draws`` that behind the intervals of a
    structural probe's correlations.
    """

    sentences: int = 1000
    pooling: Pooling = "mean"
    pieces: Pieces = "mean"
    kind: ProbeKind = "linear"
    control: bool = True
    mdl: bool = False
    untrained: bool = False
    seed: int = 0
    seeds: int = 1
    bootstrap_draws: int = 1000
    wrong: int = 10
    map_items: int = 300

    def __post_init__(self) -> None:
        if self.pooling not in ("mean", "cls", "max") or self.pieces not in ("first", "mean"):
            raise InvalidInput('Pooling is "mean", "cls" or "max", pieces are "first" or "mean".')
        if self.sentences < 1 or self.bootstrap_draws < 1 or self.map_items < 2 or self.wrong < 0:
            raise InvalidInput("Sentences, bootstrap draws and examples must be positive numbers.")
        if self.kind not in ("linear", "mlp"):
            raise InvalidInput('A probe is "linear" or an "mlp".')
        if not 1 <= self.seeds <= 20:
            raise InvalidInput("Between 1 and 20 seeds can be run.")
        if self.seed < 0:
            raise InvalidInput("The seed must be a whole number of at least 0.")
