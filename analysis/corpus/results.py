"""All that is found of a model's heads on a corpus, in one object: what a page shows and a file can hold."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from analysis.corpus.head_statistics import HeadStatistics
from analysis.corpus.relations import Ensemble, Findings, Relation
from model_zoo.types import Shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(Shows):
    """``findings`` are of the relations in ``statistics``; ``at_random`` of random weights of the same shape, None if
    they were not measured, ``missing`` saying why they could not be; ``ensembles`` are sets of heads that look
    together.
    """

    statistics: HeadStatistics
    findings: Findings
    at_random: Findings | None = None
    ensembles: tuple[Ensemble, ...] = field(default=(), repr=False)
    missing: str = ""

    def ensemble(self, relation: Relation) -> Ensemble | None:
        return next((ensemble for ensemble in self.ensembles if ensemble.relation == relation), None)

    def to_frame(self) -> pd.DataFrame:
        """One row a relation, as ``Findings.to_frame``, with layer and head instead of the head's place."""
        table = self.findings.to_frame()
        if not table.empty:
            heads = [self.statistics.head(place) for place in table.pop("place")]
            table.insert(2, "layer", [layer for layer, _ in heads])
            table.insert(3, "head", [head for _, head in heads])
        return table
