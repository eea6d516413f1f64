"""A search through a corpus, as a job: all that matches, stopped, nothing, and why it cannot be had."""

import numpy as np

from analysis.corpus.pattern import Pattern
from analysis.corpus.sentences import Corpus
from evidence.questions.look import Look
from jobs.attention_search import AttentionSearchJob
from model_zoo import Engine
from reading.sentences import plain_words

TINY = "embedded/tinybert"
IT, CAT = Pattern("word", ("it",)), Pattern("word", ("cat",))


def corpus(n: int = 300) -> Corpus:
    made = Corpus()
    for number in range(n):
        text = f"The cat {number} sat because it was tired ." if number % 3 else f"A dog {number} barked ."
        made.add(text, plain_words(text))
    return made


def run(job: AttentionSearchJob, until: int = 10_000) -> AttentionSearchJob:
    while job.running and job.n_done < until:
        job.advance()
    return job


def test_it_finds_what_one_question_about_all_finds(engine: Engine) -> None:
    job = run(AttentionSearchJob(engine, TINY, corpus(), IT, CAT))
    assert job.complete
    assert job.share == 1
    assert job.n_total == 200  # those with both words
    complete = engine.ask(Look(TINY, tuple(corpus()), IT, CAT))
    assert job.looks is not None
    np.testing.assert_array_equal(job.looks.n, complete.n)
    np.testing.assert_allclose(job.looks.weight, complete.weight, rtol=1e-6)
    np.testing.assert_allclose(job.looks.hits.weight, complete.hits.weight, atol=1e-6)


def test_when_it_is_stopped_what_was_found_stays(engine: Engine) -> None:
    job = run(AttentionSearchJob(engine, TINY, corpus(), IT, CAT, 1, 2), 1)
    job.stop()
    job.advance()
    assert not job.running
    assert not job.complete
    assert job.looks is not None
    assert job.n_done == job.looks.n_found == job.looks.n[0] == 64
    job._seconds = 8.0
    assert job.progress == "Searching: 64 of 200 sentences, about 17 seconds left."


def test_where_no_sentence_can_match_no_model_is_asked_and_why_it_cannot_be_had_is_told(engine: Engine) -> None:
    job = run(AttentionSearchJob(None, TINY, corpus(), IT, Pattern("word", ("zebra",))))
    assert (job.complete, job.looks, job.n_total) == (True, None, 0)
    for model, layer, words in (
        ("embedded/bilstm", None, "has no attention"),
        (TINY, 2, "layers 1 to 2"),
        (TINY, 99, "layers 1 to 2"),
    ):
        assert words in str(run(AttentionSearchJob(engine, model, corpus(), IT, CAT, layer)).failure)
