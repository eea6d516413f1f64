"""Reading as a job: in turns, stopped between two of them, and what a reader returned or raised handed over once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from patience import PATIENCE, until

from analysis.corpus.reading import read_corpus
from analysis.steps import step
from jobs import Desk, Worker, reading
from jobs.reading import Reading
from model_zoo.errors import InvalidInput

TEXT = "".join(f"Sentence number {place} ends here.\n" for place in range(500)).encode()


@pytest.fixture(autouse=True)
def every_step_is_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_SECONDS", 0.0)


def job_of(read: Callable[[], object], n_bytes: int = len(TEXT)) -> Reading:
    return Reading("key", read, n_bytes)


def corpus_job(text: bytes = TEXT) -> Reading:
    return job_of(lambda: read_corpus([("a.txt", text)]), len(text))


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "reading"]


def test_what_is_read_in_turns_is_what_the_reader_makes_of_it() -> None:
    job = corpus_job()
    turns, shares = 0, [job.share]
    while job.running:
        job.advance()
        turns += 1
        shares.append(job.share)
    assert turns > 500  # a line is a step at least
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    read = job.take()
    assert read == read_corpus([("a.txt", TEXT)])
    assert (job.take(), job.key) == (None, None), "nothing of it stays with the visit"
    assert job.complete


def test_it_is_read_at_once_where_there_is_time() -> None:
    job = corpus_job()
    job.advance_for(0.0)
    assert job.running
    job.advance_for(PATIENCE)
    assert job.complete


def test_stopped_between_two_turns_it_leaves_no_thread_and_no_file() -> None:
    desk = Desk(Worker())
    begun, ended = threading.Event(), []

    def read() -> None:
        try:
            while True:
                begun.set()
                step(1)
        finally:
            ended.append(True)

    job = job_of(read)
    desk.start(job)
    assert begun.wait(PATIENCE)
    assert threads()
    desk.leave()  # as when the visitor has gone
    assert job.wait(PATIENCE)
    assert ended == [True]
    until(lambda: not threads())
    assert job.stopping
    assert job.take() is None
    assert not hasattr(job, "_read")


@pytest.mark.parametrize("text", [b"", b"\x00\x01", b"1\tcat\tcat\tNOUN\t_\t_\tx\tnsubj\t_\t_\n"])
def test_what_cannot_be_read_is_raised_where_it_is_taken(text: bytes) -> None:
    job = corpus_job(text)
    job.advance_for(PATIENCE)
    assert not job.running
    assert job.failure
    for _ in range(2):  # at every action, until something else is chosen
        with pytest.raises(InvalidInput, match=r"a\.txt"):
            job.take()


def test_others_have_turns_meanwhile() -> None:
    worker, order = Worker(), list[str]()
    gate = threading.Event()

    def reader(name: str) -> Callable[[], None]:
        def read() -> None:
            assert gate.wait(PATIENCE)
            for _ in range(20):
                order.append(name)
                step()

        return read

    jobs = [job_of(reader(name)) for name in "ab"]
    for job in jobs:
        worker.start(job, visitor=job)
    gate.set()
    assert all(job.wait(PATIENCE) for job in jobs)
    assert order.index("b") < 20 < 40 - order[::-1].index("a"), "neither is read to its end before the other"


def test_a_line_of_many_sentences_is_read_in_many_steps() -> None:
    job = corpus_job(b" ".join(TEXT.split(b"\n")))
    turns = 0
    while job.running:
        job.advance()
        turns += 1
    assert turns > 2 * 500  # where one ends, and what is kept of it


@pytest.mark.parametrize("text", [TEXT * 3, TEXT.decode().replace("e", "é").encode() * 2])
def test_how_far_it_is_counts_what_is_unpacked_and_decoded_once(text: bytes) -> None:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", text)
    job = corpus_job(packed.getvalue())
    while job.running:
        before = job.share
        job.advance()
    assert before == 0.99
    assert job.n_done == len(text.decode())
