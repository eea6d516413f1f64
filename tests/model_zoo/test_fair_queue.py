"""The gate: so many at a time, in the order they came, nobody forgotten, and nobody holding a place while waiting."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from patience import PATIENCE

from model_zoo.fair_queue import FairQueue, acquired, give_way, leaving_turns, outcome, report_place

Stands = Callable[[FairQueue, int], None]


class Left(BaseException):
    """As Streamlit ends a script that nobody waits for."""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(40) as pool:
        yield pool


@pytest.fixture
def stands(monkeypatch: pytest.MonkeyPatch) -> Stands:
    """``stands(line, n)`` returns when so many stand in line."""
    changed = threading.Condition()
    admit = FairQueue._admit

    def noted(self: FairQueue) -> None:
        admit(self)
        with changed:
            changed.notify_all()

    monkeypatch.setattr(FairQueue, "_admit", noted)

    def wait(line: FairQueue, n: int) -> None:
        with changed:
            assert changed.wait_for(lambda: line.waiting == n, PATIENCE)

    return wait


@contextmanager
def telling(tell: Callable[[int], None]) -> Iterator[None]:
    """Who waits in this block is told its place by ``tell``."""
    token = report_place.set(tell)
    try:
        yield
    finally:
        report_place.reset(token)


def test_as_many_as_there_are_places_and_no_more(pool: ThreadPoolExecutor) -> None:
    line = FairQueue(3)
    most, lock = [0], threading.Lock()

    def work(_: int) -> None:
        with line.turn():
            with lock:
                most[0] = max(most[0], line.running)
            assert line.running <= 3

    list(pool.map(work, range(300)))
    assert 1 <= most[0] <= 3
    assert (line.running, line.waiting) == (0, 0)


def test_first_come_first_served(pool: ThreadPoolExecutor, stands: Stands) -> None:
    line, order = FairQueue(1), []

    def work(number: int) -> None:
        with line.turn():
            order.append(number)

    with line.turn():
        waiting = []
        for number in range(20):
            waiting.append(pool.submit(work, number))
            stands(line, number + 1)
    for clicked in waiting:
        clicked.result(PATIENCE)
    assert order == list(range(20))


def test_a_turn_comes_back_after_long_work_and_after_a_failure() -> None:
    line = FairQueue(1)
    with line.turn(long=True):  # which has a single place, too
        assert line.running == 1
    with pytest.raises(ValueError, match="inside"), line.turn():
        raise ValueError("inside")
    assert line.running == 0


def test_long_work_leaves_a_place_to_others(pool: ThreadPoolExecutor, stands: Stands) -> None:
    line, go = FairQueue(2), threading.Event()

    def long_work() -> None:
        with line.turn(long=True):
            assert go.wait(PATIENCE)

    long = [pool.submit(long_work) for _ in range(3)]
    stands(line, 2)

    def click() -> int:
        with line.turn():
            return line.running

    assert pool.submit(click).result(PATIENCE) == 2, "one long turn, and the click beside it"
    go.set()
    for clicked in long:
        clicked.result(PATIENCE)
    assert (line.running, line.waiting) == (0, 0)


def test_who_waits_is_told_how_many_are_before(pool: ThreadPoolExecutor, stands: Stands) -> None:
    line, places = FairQueue(1), [threading.Event() for _ in range(3)]

    def work(number: int) -> None:
        def tell(before: int) -> None:
            assert before == number
            places[number].set()

        with telling(tell), line.turn():
            pass

    with line.turn():
        waiting = []
        for number in range(3):
            waiting.append(pool.submit(work, number))
            stands(line, number + 1)
        assert all(place.wait(PATIENCE) for place in places)
    for clicked in waiting:
        clicked.result(PATIENCE)


@pytest.mark.parametrize("failure", [Left, ValueError])
def test_who_leaves_the_line_is_not_waited_for(failure: type[BaseException], pool: ThreadPoolExecutor) -> None:
    line = FairQueue(1)

    def leave(_: int) -> None:
        raise failure

    def work() -> None:
        with telling(leave), pytest.raises(failure), line.turn():
            pytest.fail("it had left")

    with line.turn():
        pool.submit(work).result(PATIENCE)
        assert line.waiting == 0
    with line.turn():
        assert line.running == 1


def test_who_waits_elsewhere_holds_no_place(pool: ThreadPoolExecutor) -> None:
    line, answer, lock = FairQueue(1), Future[str](), threading.Lock()

    def waits_for_an_answer() -> str:
        with line.turn():
            actual = outcome(answer)
            assert line.running == 1, "it has its turn again"
            return str(actual)

    def waits_for_a_lock() -> int:
        with line.turn():
            acquired(lock)
            lock.release()
            return line.running

    with lock:
        first, second = pool.submit(waits_for_an_answer), pool.submit(waits_for_a_lock)
        for _ in range(50):
            with line.turn():
                assert line.running == 1
        answer.set_result("here")
        assert first.result(PATIENCE) == "here"
    assert second.result(PATIENCE) == 1
    assert (line.running, line.waiting) == (0, 0)


def test_what_was_computed_fails_as_it_did() -> None:
    failed = Future[str]()
    failed.set_exception(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        outcome(failed)


def test_inner_and_outer_gates_do_not_lock_each_other(pool: ThreadPoolExecutor) -> None:
    outer, inner = FairQueue(2), FairQueue(1)

    def work(number: int) -> int:
        with outer.turn():
            with inner.turn(long=number % 3 == 0):
                give_way()
            give_way()
            with leaving_turns():
                pass
            return outer.running

    assert all(1 <= running <= 2 for running in pool.map(work, range(400), timeout=PATIENCE))
    assert (outer.running, outer.waiting, inner.running, inner.waiting) == (0, 0, 0, 0)


def test_giving_way_lets_those_before_who_wait(pool: ThreadPoolExecutor, stands: Stands) -> None:
    line, order = FairQueue(1), []

    def click() -> None:
        with line.turn():
            order.append("click")

    with line.turn():
        clicked = pool.submit(click)
        stands(line, 1)
        give_way()
        order.append("long")
    clicked.result(PATIENCE)
    assert order == ["click", "long"]


def test_turns_that_are_taken_are_dismissed_or_put_back(pool: ThreadPoolExecutor, stands: Stands) -> None:
    line = FairQueue(1)

    def work(name: str) -> bool:
        with line.turn(name) as mine:
            return mine

    with line.turn():
        outcomes = {}
        for number, name in enumerate(["a", "b", "a", "a"]):
            outcomes[number] = pool.submit(work, name)
            stands(line, number + 1)
        taken = line.take(lambda name: name == "a", 2)
        assert [turn.work for turn in taken] == ["a", "a"]
        assert line.waiting == 2
        taken[0].dismiss()
        line.put_back(taken[1:])
        assert line.waiting == 3
    assert [outcomes[number].result(PATIENCE) for number in range(4)] == [False, True, True, True]
    assert (line.running, line.waiting) == (0, 0)


def test_who_left_while_taken_is_not_put_back(pool: ThreadPoolExecutor, stands: Stands) -> None:
    line, leave = FairQueue(1), threading.Event()

    def tell(_: int) -> None:
        if leave.is_set():
            raise Left

    def work() -> None:
        with telling(tell), pytest.raises(Left), line.turn("a"):
            pytest.fail("it had left")

    with line.turn():
        gone = pool.submit(work)
        stands(line, 1)
        taken = line.take(lambda _: True, 1)
        leave.set()
        gone.result(PATIENCE)
        line.put_back(taken)
        assert line.waiting == 0
    assert line.running == 0
