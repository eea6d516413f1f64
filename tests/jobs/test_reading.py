"""Reading as a job: in a process of its own, stopped and bounded, and what it returned or raised handed over once."""

import zipfile
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, until

from analysis.corpus.coreference import read_pairs
from analysis.corpus.reading import read_corpus, read_frequencies
from analysis.corpus.sentences import Corpus
from analysis.probing import readers
from analysis.probing.template_trees import template_conllu
from jobs import READER, WORKER, Desk, Worker, read_apart, worker_of
from jobs.reading import Reading
from model_zoo.errors import InvalidInput, ModelZooError
from reading import Choices, read_files
from training.finetuning.prepare import prepare_file

TEXT = "".join(f"Sentence number {place} ends here.\n" for place in range(500)).encode()
TABLE = b"text,label\n" + b"".join(b"The %d cats sat.,%s\n" % (n, b"ab"[n % 2 : n % 2 + 1]) for n in range(40))


def job_of(call: partial[Any], n_bytes: int = len(TEXT), seconds: float = PATIENCE, n_memory: int = 2**30) -> Reading:
    return Reading(("key",), call, "a.txt", n_bytes, seconds=seconds, n_memory=n_memory)


def corpus(text: bytes, name: str = "a.txt") -> partial[Any]:
    return partial(read_corpus, [(name, text)])


def ended(job: Reading) -> Reading:
    while job.running:
        job.advance()
    return job


@pytest.mark.parametrize(
    "call",
    [
        corpus(TEXT),
        partial(read_frequencies, "a.txt", b"the\t3\ncat\t2\n"),
        partial(read_pairs, "a.txt", b"The [cat] saw the {lamp} when <it> woke."),
        partial(read_files, [("a.csv", b"good,bad\nThe cat sits.,The cat sit.\n")], "minimal pairs", most=100),
        partial(read_files, [("a.csv", b"a,b\nIt rained.,We stayed.\n")], "pairs"),
        partial(readers.read_file, TABLE, "a.csv", "", 1, Choices()),
        partial(readers.read_file, template_conllu(40).encode(), "a.conllu", "trees", 1, Choices()),
        partial(prepare_file, TABLE, "a.csv", "classification", 1, Choices()),
    ],
    ids=lambda call: f"{call.func.__module__}.{call.func.__name__}",
)
def test_what_is_read_apart_is_what_the_reader_makes_of_it(call: partial[Any]) -> None:
    here = call()
    job = ended(job_of(call))
    assert job.complete
    assert job.share == 1.0
    result = job.take()
    assert repr(result) == repr(here)
    assert not isinstance(here, Corpus) or result == here
    assert worker_of(job) is READER is not WORKER  # it takes no turns with those who compute here
    assert (job.take(), job.key) == (None, (None,)), "nothing of it stays with the visit"


@pytest.mark.parametrize("text", [b"", b"\x00\x01", b"1\tcat\tcat\tNOUN\t_\t_\tx\tnsubj\t_\t_\n"])
def test_what_cannot_be_read_is_raised_where_it_is_taken(text: bytes) -> None:
    job = ended(job_of(corpus(text)))
    assert job.failure
    for _ in range(2):  # at every action, until something else is chosen
        with pytest.raises(InvalidInput, match=r"a\.txt") as raised:
            job.take()
        assert raised.value.__cause__ is None
        assert len(raised.traceback) == 2, "nothing that was built is held"


@pytest.mark.parametrize(
    ("limits", "words"), [({"seconds": 1}, "seconds of computing"), ({"n_memory": 64_000_000}, "64 MB of memory")]
)
def test_it_is_bounded(limits: dict[str, Any], words: str) -> None:
    text = b"The cat sat. " * 2_000_000
    with pytest.raises(InvalidInput, match=words):
        ended(job_of(corpus(text), **limits)).take()


def test_a_reader_that_fails_is_logged_without_what_was_read(caplog: pytest.LogCaptureFixture) -> None:
    job = ended(job_of(partial(read_frequencies, "a.txt", None)))
    with pytest.raises(ModelZooError) as raised:
        job.take()
    assert not isinstance(raised.value, InvalidInput)
    assert "analysis/corpus/reading.py" in caplog.text


def test_no_process_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **_options: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("model_zoo.confined.subprocess.Popen", refuse)
    with pytest.raises(InvalidInput, match="no process"):
        ended(job_of(corpus(TEXT))).take()


def test_stopped_it_leaves_no_process_and_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    desk, job = Desk(Worker()), job_of(corpus(b"The cat sat. " * 3_000_000))
    desk.start(job)
    until(lambda: any(tmp_path.iterdir()))
    desk.leave()  # as when the visitor has gone
    assert job.wait(PATIENCE)
    assert job.stopping
    assert job.take() is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", [TEXT * 3, TEXT.decode().replace("e", "é").encode() * 2])
def test_how_far_it_is_counts_what_is_unpacked_and_decoded_once(text, monkeypatch, tmp_path) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", text)
    data = packed.getvalue()
    monkeypatch.setattr(read_apart, "_SECONDS", -1.0)
    noted = read_apart.Noted(tmp_path / "progress")
    noted.call(corpus(data))
    n_done, n_more = map(int, (tmp_path / "progress").read_text().split())
    assert n_done == len(text.decode()) == len(data) + n_more
