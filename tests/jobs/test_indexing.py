"""An index of a corpus, as a job: what it holds, stopped, full, on a full disk, and removed."""

import errno
import os
import shutil
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.corpus.nearest import Index
from analysis.corpus.sentences import Corpus
from jobs import indexing
from jobs.indexing import Indexing
from model_zoo import Engine
from reading.sentences import plain_words

TINY = "embedded/tinybert"


def corpus(n: int = 200) -> Corpus:
    made = Corpus()
    for number in range(n):
        text = f"Cat {number} saw {'a dog and ' * (number % 5)}the bird ."
        made.add(text, plain_words(text))
    return made


@pytest.fixture
def job(engine: Engine) -> Iterator[Indexing]:
    made = Indexing(engine, TINY, corpus(), 2)
    yield made
    made.forget()


def run(job: Indexing, until: int = 10_000) -> Index:
    while job.running and job.n_sentences < until:
        job.advance()
    assert job.index is not None
    return job.index


@pytest.mark.slow
def test_every_word_of_the_corpus_is_in_it_with_its_vector(engine: Engine, job: Indexing) -> None:
    index = run(job)
    assert job.complete
    assert job.share == 1
    assert job.n_sentences == 200
    for number in (0, 77, 199):
        states = engine.encoded_states(TINY, job.corpus.texts[number], layers=[2])
        for token in range(1, len(states.encoding) - 1):
            nearest = index.nearest(states.states[0, token], 1).tokens[0]
            assert nearest.cosine == pytest.approx(1, abs=1e-3)
            if states.encoding.tokens[token] == str(number):
                assert (nearest.sentence, nearest.token) == (number, token)
    n = sum(len(engine.attend(TINY, text).encoding) - 2 for text in job.corpus.texts)
    assert len(index) == n


def test_when_it_is_stopped_what_was_read_can_be_searched(job: Indexing) -> None:
    index = run(job, 16)
    assert job.progress.startswith("Reading: 16 of 200 sentences")
    job.stop()
    job.advance()
    assert not job.running
    assert not job.complete
    assert job.n_sentences == index.n_sentences == 16
    assert len(index.nearest(np.ones(index.width, dtype=np.float32), 5).tokens) == 5


def test_it_ends_where_the_index_is_full(job: Indexing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "Index", lambda file, width: Index(file, width, 500))
    index = run(job)
    assert job.complete
    assert job.share == 1
    assert len(index) == 500
    assert 0 < job.n_sentences < 200


def test_time_left_is_told_and_it_is_removed_when_its_visitor_has_left(job: Indexing) -> None:
    run(job, 64)
    job._seconds = 20.0
    assert job.progress == "Reading: 64 of 200 sentences, about 42 seconds left."
    file = run(job).file
    assert file.exists()
    job.leave()
    assert not file.exists()
    job.forget()  # again: nothing happens


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("how", ["before", "while writing"])
def test_a_full_disk_is_told_and_what_is_there_stays(job, engine, how, monkeypatch) -> None:
    run(job, 128)
    if how == "before":
        monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=499_999_999))
    else:
        monkeypatch.setattr(Index, "add", full)
    index = run(job)
    assert "does not fit on the disk; 128 of 200" in str(job.failure)
    assert index.n_sentences == 128
    assert index.nearest(np.ones(index.width, dtype=np.float32), 1).tokens
    other = Indexing(engine, TINY, corpus(), 2)  # for which it is full from the beginning
    while other.running:
        other.advance()
    assert "does not fit on the disk; nothing did" in str(other.failure)
    assert other.n_sentences == 0
    other.forget()


def test_a_file_that_was_cut_short_or_a_layer_that_does_not_exist_ends_it_in_a_sentence(job, engine) -> None:
    index = run(job, 128)
    os.truncate(index.file, 10)
    run(job)
    assert "cut short or removed" in str(job.failure)
    other = Indexing(engine, TINY, corpus(3), 9)
    while other.running:
        other.advance()
    assert "9 does not exist" in str(other.failure)
    assert other.share == 0
    other.forget()
