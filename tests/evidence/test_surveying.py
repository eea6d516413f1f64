"""A survey in one call has what the parts that it is made of give, counts from 0, and says what a file cannot give."""

from pathlib import Path

import numpy as np
import pytest

from analysis.corpus.reading import read_corpus
from analysis.corpus.relations import Relation
from analysis.corpus.results import Survey
from analysis.probing.template_trees import template_conllu
from evidence import survey
from jobs.measure_heads import MeasureHeadsJob
from model_zoo import Engine
from model_zoo.errors import InvalidInput

TINY = "embedded/tinybert"
DATA = template_conllu(60, seed=3).encode()


@pytest.fixture(scope="module")
def surveyed(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Survey:
    path = tmp_path_factory.mktemp("survey") / "mine.conllu"
    path.write_bytes(DATA)
    return survey(str(path), TINY, engine=engine)


def test_it_has_what_the_page_has(surveyed: Survey, engine: Engine) -> None:
    corpus = read_corpus([("mine.conllu", DATA)])
    corpus.find_rare()
    job = MeasureHeadsJob(engine, TINY, corpus)
    while job.running:
        job.advance()
    table = surveyed.relations()
    assert table.equals(job.results.to_frame())
    assert surveyed.to_frame().equals(job.results.statistics.to_frame())
    assert {"random_right", "several_right", "lowest", "highest", "same_head", "p"} <= set(table)
    alone = survey(DATA, TINY, engine=engine, compare=False).relations()
    assert alone.equals(table.drop(columns=["random_right", "several", "several_right"]))


def test_a_head_has_its_measures_relations_and_examples(surveyed: Survey) -> None:
    statistics, head = surveyed.results.statistics, surveyed.head(1, 2)
    place = statistics.place(1, 2)
    for measure, value, *ends in head.measures.itertuples(index=False):
        assert (value, *ends) == (
            statistics.measure(measure)[place],
            *(end[place] for end in statistics.interval(measure)),
        )
    for deprel, direction, right, low, high, words, best in head.relations.itertuples(index=False):
        finding = surveyed.results.findings.get(Relation(deprel, direction))
        assert (right, low, high) == tuple(end[place] for end in statistics.right(finding.relation))
        assert (right, words, best) == (finding.judged[place], finding.n_judged, finding.head == place)
    assert len(head.relations) == len(surveyed.relations())
    assert head.relations.right.is_monotonic_decreasing
    for example in head.examples.itertuples():
        assert {example.query, example.key} <= set(surveyed.corpus.sentence(example.sentence).words)
        assert example.text == surveyed.corpus.texts[example.sentence]
    with pytest.raises(InvalidInput, match=r"no head \(2, 0\)\. Both count from 0\. Its heads: layer 0: 4, layer 1: 4"):
        surveyed.head(2, 0)


def test_texts_have_measures_and_no_relations(engine: Engine, tmp_path: Path) -> None:
    texts = ["# newdoc, she said.", 'The "cat"\nsat', "The cat sat on the mat."]
    found = survey(texts, TINY, engine=engine)
    assert found.corpus.texts == ["# newdoc, she said.", 'The "cat" sat', "The cat sat on the mat."]
    assert np.isfinite(found.to_frame()[["previous", "rare"]]).all(axis=None)
    assert len(found.head(0, 0).relations) == 0
    with pytest.raises(InvalidInput, match="no trees"):
        found.relations()
    with pytest.raises(InvalidInput, match="10 cases in each half"):
        survey(template_conllu(2).encode(), TINY, engine=engine).relations()
    with pytest.raises(InvalidInput, match="cannot be read"):
        survey(tmp_path / "none.conllu", TINY, engine=engine)
    with pytest.raises(InvalidInput):
        survey([], TINY, engine=engine)
