"""A statistics as a job: its stages, what stays when it is stopped, what it says."""

import pytest

from analysis.corpus.reading import built_in, read_corpus
from analysis.corpus.relations import ALL
from evidence import corpus as corpus_questions
from jobs.measure_heads import MeasureHeadsJob
from model_zoo import Engine
from model_zoo.registry import UNTRAINED

TINY = "embedded/tinybert"


def done(job: MeasureHeadsJob) -> MeasureHeadsJob:
    while job.running:
        job.advance()
    return job


def test_with_trees_it_goes_through_three_stages(engine: Engine) -> None:
    job = MeasureHeadsJob(engine, TINY, built_in(60))
    shares, messages, ended = [], [], []
    while job.running:
        shares.append(job.share)
        messages.append(job.progress)
        ended.append(job.n_ended)
        job.advance()
    assert shares == sorted(shares)
    assert (job.complete, job.share, job.n_ended) == (True, 1.0, 3)
    assert set(ended) >= {0, 1, 2}
    for stage in ("Measuring every head", "The same network with random weights", "Heads that look together"):
        assert any(message.startswith(stage) for message in messages)
    results = job.results
    assert results is not None
    assert results.statistics.n_texts == 60
    assert results.at_random is not None
    assert results.ensembles
    assert results.findings.get(ALL) is not None
    assert 1 <= len(results.ensemble(ALL).heads) <= 4
    assert results.missing == ""


def test_without_trees_there_is_one_stage_and_a_model_that_cannot_be_measured_says_why(engine: Engine) -> None:
    corpus = read_corpus([("lines.txt", b"The cat sat.\nA dog slept.\nIt was late.\n")])
    job = done(MeasureHeadsJob(engine, TINY, corpus))
    assert (job.complete, job.n_total) == (True, 3)
    assert (job.results.findings.relations, job.results.at_random) == ((), None)
    job = done(MeasureHeadsJob(engine, "embedded/bilstm", built_in(5)))
    assert job.results is None
    assert "no attention" in str(job.failure)


def test_what_was_measured_stays_when_it_is_stopped(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_questions, "AT_ONCE", 10)
    job = MeasureHeadsJob(engine, TINY, built_in(60))
    for _ in range(3):
        job.advance()
    job.stop()
    done(job)
    assert not job.complete
    assert job.results is not None
    assert 0 < job.results.statistics.n_texts < 60
    assert job.results.at_random is None


def test_without_random_weights_the_rest_is_done(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(engine: Engine, model: str, corpus: object) -> object:
        if model.startswith(UNTRAINED):
            engine.info("no/such-model-anywhere")
        return corpus_questions.measure_heads(engine, model, corpus)

    monkeypatch.setattr("jobs.measure_heads.measure_heads", refusing)
    job = done(MeasureHeadsJob(engine, TINY, built_in(40)))
    assert job.results is not None
    assert job.results.at_random is None
    assert job.results.ensembles
    assert "no/such-model-anywhere" in job.results.missing
