"""A visit ends some time after its last sign of life, and not with a lost connection."""

import threading

import pytest
from gated import Endless
from patience import PATIENCE

from jobs import Desk, Visits, Worker
from jobs.desk import AWAY


class Browsers:
    """Which sessions have a browser, and a clock."""

    def __init__(self) -> None:
        self.connected: set[str] = set()
        self.now = 1_000.0
        self.visits = Visits(lambda session: session in self.connected, lambda: self.now)

    def come(self, session: str) -> tuple[Desk, Endless]:
        desk, job = Desk(Worker()), Endless()
        desk.start(job)
        self.connected.add(session)
        self.visits.seen(desk, session)
        return desk, job

    def look_after(self, seconds: float) -> bool:
        self.now += seconds
        return self.visits.look()


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> Browsers:
    monkeypatch.setattr(Visits, "_look_after", lambda _: None)  # the tests look themselves
    return Browsers()


def test_a_connection_lost_for_a_while_stops_nothing(browsers: Browsers) -> None:
    _, job = browsers.come("a")
    browsers.connected.clear()
    assert browsers.look_after(120)
    browsers.connected.add("a")  # on whatever page: no desk is asked for
    assert browsers.look_after(100)
    browsers.connected.clear()
    assert browsers.look_after(AWAY - 1)
    assert not job.stopping
    assert not browsers.look_after(2)
    assert job.wait(PATIENCE)


def test_each_visit_ends_by_itself_and_who_stays_stays(browsers: Browsers) -> None:
    _, left = browsers.come("a")
    _, stays = browsers.come("b")
    browsers.connected.remove("a")
    assert browsers.look_after(AWAY + 1)
    assert left.wait(PATIENCE)
    for _ in range(10):
        assert browsers.look_after(AWAY)
    assert not stays.stopping
    browsers.visits.close()
    assert stays.wait(PATIENCE)
    assert not browsers.look_after(0)


def test_to_act_is_a_sign_of_life(browsers: Browsers) -> None:
    """Also where Streamlit knows of no connection, as in a test."""
    desk, job = browsers.come("a")
    browsers.connected.clear()
    for _ in range(3):
        assert browsers.look_after(AWAY - 1)
        browsers.visits.seen(desk, "a")
    assert not job.stopping
    browsers.visits.close()
    assert job.wait(PATIENCE)


def test_one_thread_looks_after_all_and_ends_with_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.desk._BETWEEN_LOOKS", 0.001)
    before = set(threading.enumerate())
    visits = Visits(lambda _session: True)
    desks = [Desk(Worker()) for _ in range(3)]
    for desk in desks * 2:
        visits.seen(desk, "a")
    (watching,) = [thread for thread in threading.enumerate() if thread not in before and thread.name == "visits"]
    visits.close()
    watching.join(PATIENCE)
    assert not watching.is_alive()
    visits.seen(desks[0], "a")
    assert [thread for thread in threading.enumerate() if thread not in before and thread.name == "visits"]
    visits.close()
