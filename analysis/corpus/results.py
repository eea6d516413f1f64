"""All that is found of a model's heads on a corpus, in one object: what a page shows and a file can hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.corpus.relations import Ensemble, Findings, Relation
from analysis.corpus.survey import Survey


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """``findings`` are of the ``survey``'s relations; ``at_random`` of the same network with random weights, None where
    it was not run, ``missing`` saying why it could not be; ``ensembles`` are sets of heads that look together.
    """

    survey: Survey
    findings: Findings
    at_random: Findings | None = None
    ensembles: tuple[Ensemble, ...] = field(default=(), repr=False)
    missing: str = ""

    def ensemble(self, relation: Relation) -> Ensemble | None:
        return next((one for one in self.ensembles if one.relation == relation), None)
