"""All that is found of a model's heads on a corpus, in one object: what a page shows and a file can hold; and with the
corpus beside it, what a notebook asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from analysis.corpus.head_statistics import HeadStatistics
from analysis.corpus.relations import FEWEST, Ensemble, Findings, Relation, layers_and_heads
from analysis.corpus.sentences import Corpus
from model_zoo.errors import InvalidInput
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

    def to_frame(self, count_from: int = 0) -> pd.DataFrame:
        """One row a relation, as ``Findings.to_frame``, with layer and head instead of the head's place; how often the
        best head with random weights is right (``random_right``), and several heads together (``several``, each as
        "layer.head", and ``several_right``). Layers and heads ``count_from`` that number.
        """
        table = self.findings.to_frame()
        if table.empty:
            return table
        relations = [finding.relation for finding in self.findings.relations]
        layer, head = (count_from + numbers for numbers in layers_and_heads(self.statistics.heads))
        place = table.pop("place")
        table.insert(2, "layer", layer[place])
        table.insert(3, "head", head[place])
        if self.at_random is not None:
            random = {finding.relation: finding.accuracy.share for finding in self.at_random.relations}
            table["random_right"] = [random.get(relation, np.nan) for relation in relations]
        if self.ensembles:
            several = {
                group.relation: (" ".join(f"{layer[at]}.{head[at]}" for at in group.heads), group.accuracy.share)
                for group in self.ensembles
            }
            table[["several", "several_right"]] = [several.get(relation, ("", np.nan)) for relation in relations]
        return table


@dataclass(frozen=True, slots=True)
class HeadSurvey(Shows):
    """One head. ``label`` is its kind by the rules of ``analysis.heads``; ``measures`` has a row a measure (value, low,
    high), ``relations`` a row a relation, found most often first: right (low to high) of the words that judge, and best
    where it was chosen for the relation. ``examples`` are as in ``Examples.head_frame``, with the words and the text.
    """

    layer: int
    head: int
    label: str
    measures: pd.DataFrame = field(repr=False)
    relations: pd.DataFrame = field(repr=False)
    examples: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Its measures."""
        return self.measures


@dataclass(frozen=True, slots=True)
class Survey(Shows):
    """What the heads of a model do in a corpus; ``results`` has everything that was measured."""

    model: str
    corpus: Corpus
    results: Results = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row a head, as ``HeadStatistics.to_frame``: its kind, and its measures with their intervals."""
        return self.results.statistics.to_frame()

    def relations(self) -> pd.DataFrame:
        """One row a relation: its best head, as ``Results.to_frame``. Raises InvalidInput where there is none."""
        table = self.results.to_frame()
        if table.empty:
            lack = f"have no relation with {FEWEST} cases in each half" if self.corpus.has_trees else "have no trees"
            more = "Relations take a treebank of some hundred sentences; to_frame() has the measures of every head."
            raise InvalidInput(f"These sentences {lack}. {more}")
        return table

    def head(self, layer: int, head: int) -> HeadSurvey:
        """One head. Raises InvalidInput for one that does not exist."""
        statistics = self.results.statistics
        if (layer, head) not in statistics.every_head():
            heads = ", ".join(f"layer {at}: {n}" for at, n in enumerate(statistics.heads))
            raise InvalidInput(f"{self.model} has no head ({layer}, {head}). Both count from 0. Its heads: {heads}.")
        place = statistics.place(layer, head)
        row = self.to_frame().iloc[place]
        measures = [(name, row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in statistics.defined()]
        relations = [
            (*of.relation, *(float(end[place]) for end in statistics.right(of.relation)), of.n_judged, of.head == place)
            for of in self.results.findings.relations
        ]
        table = pd.DataFrame(relations, columns=["relation", "direction", "right", "low", "high", "words", "best"])
        examples = statistics.examples.head_frame(place)
        sentences = self.corpus.take(examples["sentence"])
        for end in ("query", "key"):
            examples[end] = [sentence.words[at] for sentence, at in zip(sentences, examples[end], strict=True)]
        return HeadSurvey(
            *(layer, head, row["label"]),
            measures=pd.DataFrame(measures, columns=["measure", "value", "low", "high"]),
            relations=table.sort_values("right", ascending=False, kind="stable", ignore_index=True),
            examples=examples.assign(text=[sentence.text for sentence in sentences]),
        )
