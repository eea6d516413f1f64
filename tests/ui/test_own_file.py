"""The one way in which pages read files: once for everybody, and by a job where there is much to read."""

import threading
from collections.abc import Generator, Iterator

import pytest
from cachetools import LRUCache
from patience import PATIENCE, until
from streamlit.testing.v1 import AppTest

from analysis.corpus import reading
from jobs import READER, Job
from ui import own_file
from ui.own_file import Reading

LIST = b"the\t3\ncat\t2\nsat\t1\n"


class Gate(Job):
    """Keeps other files from being read."""

    doing, apart, share, progress, n_ended = "waiting", True, 0.0, "", 0

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()

    def steps(self) -> Generator[None, None, None]:
        assert self.opened.wait(PATIENCE)
        yield


def page(*lists):  # a script of its own, which imports no types
    from functools import partial

    import streamlit as st

    from analysis.corpus import reading
    from ui.messages import failures_as_messages
    from ui.own_file import read
    from web.uploads import File

    for name, data in lists:
        with failures_as_messages():
            if name.startswith("corpus"):
                call = partial(reading.read_corpus, [(name, data)])
            else:
                call = partial(reading.read_frequencies, name, data)
            st.metric("Words", len(read([File(name, data)], call)))


@pytest.fixture(autouse=True)
def nothing_is_read_yet() -> Iterator[None]:
    own_file._READ.clear()
    yield
    own_file._READ.clear()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose words were counted."""
    names: list[str] = []
    read = reading.read_frequencies
    monkeypatch.setattr(reading, "read_frequencies", lambda name, data: names.append(name) or read(name, data))
    return names


@pytest.fixture
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_file, "_MOST_AT_ONCE", 0)


def opened(*lists: tuple[str, bytes]) -> AppTest:
    return AppTest.from_function(page, default_timeout=PATIENCE, args=lists).run()


def reading_of(at: AppTest) -> Reading:
    job = at.session_state["desk"].current(Reading)
    assert isinstance(job, Reading)
    return job


def values(at: AppTest) -> list[str]:
    return [metric.value for metric in at.metric]


def test_a_file_is_read_once_for_everybody_by_its_name_and_contents(calls) -> None:
    for _ in range(2):
        assert values(opened(("a.txt", LIST))) == ["3"]
    assert calls == ["a.txt"]
    assert values(opened(("b.txt", LIST), ("a.txt", LIST + b"mat\t1\n"))) == ["3", "4"]
    assert calls == ["a.txt", "b.txt", "a.txt"]


def test_a_visit_keeps_what_it_reads_whatever_others_bring(calls, monkeypatch) -> None:
    monkeypatch.setattr(own_file, "_READ", LRUCache(1, getsizeof=lambda _kept: 2))
    at = opened(("a.txt", LIST))
    assert values(at.run()) == ["3"]
    assert calls == ["a.txt"]


@pytest.mark.usefixtures("every_file_is_large")
def test_a_large_file_is_read_by_a_job_that_can_be_stopped_and_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    READER.start(gate)
    at = opened(("A-file", LIST))
    assert [button.label for button in at.button] == ["Stop"]
    assert not at.metric
    at.button[0].click().run()
    gate.opened.set()
    assert reading_of(at).wait(PATIENCE)
    at.run()
    assert [button.label for button in at.button] == ["Read it again"]
    assert "A" in at.info[0].value
    at.button[0].click().run()
    until(lambda: not reading_of(at).running)
    assert values(at.run()) == ["3"]
    assert not at.button
    monkeypatch.setattr(READER, "start", lambda *_: pytest.fail("it is read again"))
    assert values(opened(("A-file", LIST))) == ["3"], "for others, too"


@pytest.mark.usefixtures("every_file_is_large")
def test_two_large_files_of_a_page_are_read_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_file, "_READ", LRUCache(1, getsizeof=lambda _kept: 2))
    at = opened(("corpus", b"One. Two."), ("A-file", LIST))
    for _ in range(2):
        assert [button.label for button in at.button] == ["Stop"]
        assert not at.exception
        assert reading_of(at).wait(PATIENCE)
        at.run()
    assert values(at) == ["2", "3"]


@pytest.mark.usefixtures("every_file_is_large")
def test_what_a_job_could_not_read_is_said_at_every_run() -> None:
    at = opened(("A-file", b"the\n"))
    job = reading_of(at)
    assert job.wait(PATIENCE)
    for _ in range(2):
        assert "A" in at.run().warning[0].value
    assert reading_of(at) is job


def test_an_archive_is_never_read_here() -> None:
    at = opened(("corpus.zip", b"PK\x03\x04" + LIST))
    assert [button.label for button in at.button] == ["Stop"]
    assert reading_of(at).wait(PATIENCE)
    assert at.run().warning


def in_an_open_box(name, data):
    from functools import partial

    import streamlit as st

    from analysis.corpus import reading
    from ui.messages import also_at, failures_as_messages
    from ui.own_file import read
    from web.uploads import File

    with failures_as_messages():
        with also_at(st.container(key="box")):
            read([File(name, data)], partial(reading.read_frequencies, name, data))
        st.text("behind")


@pytest.mark.usefixtures("every_file_is_large")
def test_an_open_box_says_itself_that_a_file_is_not_read_yet_or_cannot_be() -> None:
    gate = Gate()
    READER.start(gate)
    at = AppTest.from_function(in_an_open_box, default_timeout=PATIENCE, args=("A-file", b"the\n")).run()
    box = at.get("flex_container")[0]
    assert [element.type for element in box.children.values()] == ["caption"]
    assert [button.label for button in at.button] == ["Stop"]
    gate.opened.set()
    assert reading_of(at).wait(PATIENCE)
    at.run()
    box = at.get("flex_container")[0]
    assert [element.type for element in box.children.values()] == ["warning"]
    assert len(at.warning) == 2
    assert not at.text
