"""All that the page "Corpus" says of a model's heads on a corpus, in one call: ``survey``; step by step for a job."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import model_zoo
from analysis.corpus.head_statistics import HeadSets, HeadStatistics
from analysis.corpus.reading import corpus_of
from analysis.corpus.relations import best_ensemble, ensembles, findings
from analysis.corpus.results import Results, Survey
from analysis.corpus.sentences import Corpus
from evidence.corpus import measure_heads, score_head_sets
from model_zoo import DEFAULT_MODEL
from model_zoo.engine_methods import EngineMethods
from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.registry import UNTRAINED
from reading import Data, read


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a survey is: ``n_done`` of as many sentences as there are in all its passes, what was measured of the
    model's own heads so far, and from the end of the first stage on the results, which later stages add to.
    """

    stage: str
    n_done: int
    statistics: HeadStatistics
    results: Results | None = None


def survey(
    source: str | Path | bytes | Sequence[str] | Data | Corpus,
    model: str = DEFAULT_MODEL,
    *,
    engine: EngineMethods | None = None,
    compare: bool = True,
) -> Survey:
    """Measure every head of a model on sentences: the path of a file or its bytes (a treebank in CoNLL-U, plain text, a
    table), texts, or what was read already.

    Where there are trees, the heads that find relations are sought, and unless ``compare`` is False held against random
    weights and several heads together, which takes three passes instead of one. Raises InvalidInput for what cannot be
    read or has no sentence, and what ``MeasureHeads`` raises.
    """
    corpus = source if isinstance(source, Corpus) else _read(source)
    *_, last = survey_steps(engine or model_zoo.Engine(), model, corpus, compare=compare)
    assert last.results is not None
    return Survey(model, corpus, last.results)


def _read(source: str | Path | bytes | Sequence[str] | Data) -> Corpus:
    """The sentences, with their rarest words noted."""
    if isinstance(source, str | Path | bytes):
        source = read(source, "sentences")
    elif not isinstance(source, Data):
        lines = "\n".join(json.dumps({"text": text}) for text in source)
        source = read(lines.encode(), "sentences", name="The list of texts")
    corpus = corpus_of(source)
    corpus.find_rare()
    return corpus


def survey_steps(
    engine: EngineMethods, model: str, corpus: Corpus, *, compare: bool = True
) -> Generator[Progress, None, None]:
    """The stages of ``survey``, a step each time that something is known: all heads; where there are trees, then the
    same of random weights of the model's shape, and sets of heads that look together. Close it to stop. Raises as
    ``survey`` does.
    """
    if not len(corpus):
        raise InvalidInput("There is no sentence to measure. Bring at least one.")
    n = len(corpus)
    with closing(measure_heads(engine, model, corpus)) as parts:
        for statistics in parts:
            yield Progress("Measuring every head", statistics.n_texts, statistics)
    results = Results(statistics=statistics, findings=findings(statistics.cases))
    yield Progress("Measuring every head", n, statistics, results)
    if not (compare and corpus.has_trees):
        return
    stage = "The same shape, random weights"
    try:
        with closing(measure_heads(engine, f"{UNTRAINED}{model}", corpus)) as parts:
            for random in parts:
                yield Progress(stage, n + random.n_texts, statistics, results)
        results = replace(results, at_random=findings(random.cases))
    except ModelZooError as error:
        results = replace(results, missing=str(error))
    stage = "Heads that look together"
    yield Progress(stage, 2 * n, statistics, results)
    groups = {finding.relation: ensembles(finding) for finding in results.findings.relations}
    n_cases = sum(finding.n_choosing + finding.n_judged for finding in results.findings.relations)
    heads = statistics.every_head()
    tried = [
        HeadSets(*relation, tuple(tuple(heads[place] for place in group) for group in of_relation))
        for relation, of_relation in groups.items()
    ]
    best = []
    if groups:
        with closing(score_head_sets(engine, model, corpus, tried)) as scores:
            for scored in scores:
                yield Progress(stage, 2 * n + round(n * sum(map(len, scored)) / n_cases), statistics, results)
        best = [best_ensemble(*of, cases) for of, cases in zip(groups.items(), scored, strict=True)]
    results = replace(results, ensembles=tuple(ensemble for ensemble in best if ensemble is not None))
    yield Progress(stage, 3 * n, statistics, results)
