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
    row = surveyed.to_frame().query("layer == 1 and head == 2").iloc[0]
    for measure, *numbers in head.measures.itertuples(index=False):
        assert numbers == row[[measure, f"{measure}_low", f"{measure}_high"]].tolist()
    assert (head.label, set(head.measures.measure)) == (row.label, set(statistics.defined()))
    for deprel, direction, *numbers, words, best in head.relations.itertuples(index=False):
        finding = surveyed.results.findings.get(Relation(deprel, direction))
        assert numbers == [float(end[place]) for end in statistics.right(finding.relation)]
        assert (numbers[0], words, best) == (finding.judged[place], finding.n_judged, finding.head == place)
    assert len(head.relations) == len(surveyed.relations())
    assert head.relations.right.is_monotonic_decreasing
    for example in head.examples.itertuples():
        sentence = surveyed.corpus.sentence(example.sentence)
        assert {example.query, example.key} <= set(sentence.words)
        assert example.text == sentence.text
    assert (head.examples.kept == "strongest").sum() == len(statistics.examples.strongest(place))
    for wrong in ((2, 0), (0, 4), (-1, 0)):
        with pytest.raises(InvalidInput, match=r"layer 0: 4, layer 1: 4"):
            surveyed.head(*wrong)


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
