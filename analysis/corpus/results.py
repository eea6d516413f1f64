"""All that is found of a model's heads on a corpus, in one object: what a page shows and a file can hold; and with the
corpus beside it, what a notebook asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from analysis.corpus.head_statistics import HeadStatistics
from analysis.corpus.relations import FEWEST, Ensemble, Findings, Relation
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

    def to_frame(self) -> pd.DataFrame:
        """One row a relation, as ``Findings.to_frame``, with layer and head instead of the head's place; and how often
        the best head with random weights is right (``random_right``), and several heads together: their layers and
        numbers as "layer.head", ``several``, and ``several_right``.
        """
        table = self.findings.to_frame()
        if table.empty:
            return table
        heads = [self.statistics.head(place) for place in table.pop("place")]
        table.insert(2, "layer", [layer for layer, _ in heads])
        table.insert(3, "head", [head for _, head in heads])
        relations = [finding.relation for finding in self.findings.relations]
        if self.at_random is not None:
            random = map(self.at_random.get, relations)
            table["random_right"] = [np.nan if result is None else result.accuracy.share for result in random]
        if self.ensembles:
            several = [self.ensemble(relation) for relation in relations]
            named = self.statistics.head
            table["several"] = [
                "" if group is None else " ".join("{}.{}".format(*named(place)) for place in group.heads)
                for group in several
            ]
            table["several_right"] = [np.nan if group is None else group.accuracy.share for group in several]
        return table


@dataclass(frozen=True, slots=True)
class HeadSurvey(Shows):
    """One head, layer and head from 0, and its kind by the rules of ``analysis.heads``.

    ``measures`` has one row a measure that is defined: measure, value, low, high. ``relations`` one a relation, found
    most often first: relation, direction, right, low, high (on the half that judges), words (how many judge), and best
    (whether it was chosen for the relation). ``examples`` one a sentence, from strong to weak: kept ("strongest", or
    "drawn" at random from a step of strength), weight, query and key (the words), sentence (its number) and text.
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
        if table.empty and not self.corpus.has_trees:
            raise InvalidInput(
                "These sentences have no trees, so nothing is known of the relations between their words. Bring a "
                "treebank in CoNLL-U; the measures of every head are in to_frame()."
            )
        if table.empty:
            raise InvalidInput(f"No relation has {FEWEST} cases in each half of these sentences. Bring more of them.")
        return table

    def head(self, layer: int, head: int) -> HeadSurvey:
        """One head. Raises InvalidInput for one that does not exist."""
        statistics = self.results.statistics
        if (layer, head) not in statistics.every_head():
            heads = ", ".join(f"layer {at}: {n}" for at, n in enumerate(statistics.heads))
            raise InvalidInput(f"{self.model} has no head ({layer}, {head}). Both count from 0. Its heads: {heads}.")
        place = statistics.place(layer, head)
        ends = [(name, statistics.measure(name), *statistics.interval(name)) for name in statistics.defined()]
        measures = [(name, *(float(end[place]) for end in numbers)) for name, *numbers in ends]
        relations = [
            (*of.relation, *(float(end[place]) for end in statistics.right(of.relation)), of.n_judged, of.head == place)
            for of in self.results.findings.relations
        ]
        table = pd.DataFrame(relations, columns=["relation", "direction", "right", "low", "high", "words", "best"])
        examples = statistics.examples.of(place)
        sentences = self.corpus.take(examples["sentence"])
        for end in ("query", "key"):
            words = zip(sentences, examples[end], strict=True)
            examples[end] = [sentence.words[at] for sentence, at in words]
        return HeadSurvey(
            layer,
            head,
            statistics.table().labels[place],
            pd.DataFrame(measures, columns=["measure", "value", "low", "high"]),
            table.sort_values("right", ascending=False, kind="stable", ignore_index=True),
            examples.assign(text=[sentence.text for sentence in sentences]),
        )
