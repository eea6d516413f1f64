"""The memory of answers: computed once however many ask, within a budget, and nobody is left waiting."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from checkpoints import Checkpoint
from patience import PATIENCE

from model_zoo import Engine, fair_queue
from model_zoo.answer_cache import NOTHING, AnswerCache, size_of
from model_zoo.question import Question


class Gate:
    """Something to compute that says when it has begun, and goes on when it is let."""

    def __init__(self, result: Any = "done", failure: BaseException | None = None) -> None:
        self.begun, self.open = threading.Event(), threading.Event()
        self.n_calls = 0
        self._result, self._failure = result, failure

    def __call__(self) -> Any:
        self.n_calls += 1
        self.begun.set()
        assert self.open.wait(PATIENCE)
        if self._failure is not None:
            raise self._failure
        return self._result


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Counts the threads that wait for what another computes."""
    arrived = threading.Semaphore(0)
    plain = fair_queue.outcome

    def outcome(future: Future[Any]) -> Any:
        arrived.release()
        return plain(future)

    monkeypatch.setattr("model_zoo.answer_cache.outcome", outcome)
    return arrived


def wait_for(arrived: threading.Semaphore, n: int) -> None:
    for _ in range(n):
        assert arrived.acquire(timeout=PATIENCE)


def answer(future: Future[Any]) -> Any:
    """A future's result; who asks for it so is not counted as one who waits."""
    return future.result(PATIENCE)


def begin(pool: ThreadPoolExecutor, results: AnswerCache, gate: Gate) -> Future[Any]:
    """What is computed for "key" and has begun."""
    future = pool.submit(results.get_or_compute, "key", gate)
    assert gate.begun.wait(PATIENCE)
    return future


def test_equal_questions_are_computed_once(pool: ThreadPoolExecutor, waiting: threading.Semaphore) -> None:
    results, gate = AnswerCache(1000), Gate()
    first = begin(pool, results, gate)
    others = [pool.submit(results.get_or_compute, "key", lambda: pytest.fail("computed again")) for _ in range(5)]
    wait_for(waiting, 5)
    gate.open.set()
    assert [answer(future) for future in (first, *others)] == ["done"] * 6
    assert gate.n_calls == 1
    assert results.get("key") == "done"


def test_different_questions_do_not_wait_for_each_other(pool: ThreadPoolExecutor) -> None:
    results, slow = AnswerCache(1000), Gate("slow")
    begun = begin(pool, results, slow)
    assert results.get_or_compute("quick", lambda: "quick") == "quick"  # nobody holds the lock meanwhile
    assert results.n_bytes == size_of("quick")
    assert not begun.done()
    slow.open.set()
    assert answer(begun) == "slow"


def test_a_failure_reaches_all_and_is_not_remembered(pool: ThreadPoolExecutor, waiting: threading.Semaphore) -> None:
    results, gate = AnswerCache(1000), Gate(failure=ValueError("it broke"))
    futures = [begin(pool, results, gate)]
    futures += [pool.submit(results.get_or_compute, "key", gate) for _ in range(4)]
    wait_for(waiting, 4)
    gate.open.set()
    for future in futures:
        with pytest.raises(ValueError, match="it broke"):
            answer(future)
    assert gate.n_calls == 1
    assert results.get_or_compute("key", lambda: "whole again") == "whole again"


class Interrupted(BaseException):
    """What ends one thread's work, as a visitor's click ends a page's run."""


def test_who_waits_for_what_is_interrupted_computes_it(pool: ThreadPoolExecutor, waiting: threading.Semaphore) -> None:
    results, gate = AnswerCache(1000), Gate(failure=Interrupted())
    first = begin(pool, results, gate)
    second = pool.submit(results.get_or_compute, "key", lambda: "mine")
    wait_for(waiting, 1)
    gate.open.set()
    with pytest.raises(Interrupted):
        answer(first)
    assert answer(second) == "mine"


def test_forgetting_while_something_is_computed(pool: ThreadPoolExecutor, waiting: threading.Semaphore) -> None:
    """Those who wait get the answer, and it is not kept; who asks later has it computed anew."""
    results, gate = AnswerCache(1000), Gate("old")
    futures = [begin(pool, results, gate)]
    futures.append(pool.submit(results.get_or_compute, "key", gate))
    wait_for(waiting, 1)
    results.clear()
    assert results.get_or_compute("key", lambda: "new") == "new"
    gate.open.set()
    assert [answer(future) for future in futures] == ["old", "old"]
    assert results.values() == ["new"]


def test_the_budget_holds_and_what_is_too_large_is_handed_out() -> None:
    size = size_of("0" * 100)
    results = AnswerCache(3 * size)
    for number in range(5):
        assert results.get_or_compute(number, lambda number=number: f"{number}" * 100) == f"{number}" * 100
        assert results.n_bytes <= results.budget
    assert results.values() == ["2" * 100, "3" * 100, "4" * 100]
    results.get_or_compute(2, lambda: pytest.fail("it is kept"))
    results.get_or_compute(5, lambda: "5" * 100)
    assert results.get(2) == "2" * 100  # used last, so 3 left
    assert results.get(3) is NOTHING
    large = "x" * 4 * size
    assert results.get_or_compute("large", lambda: large) is large
    assert results.get("large") is NOTHING
    assert len(results.values()) == 3


def test_none_is_a_result_like_others() -> None:
    results = AnswerCache(1000)
    assert results.get_or_compute("key", lambda: None) is None
    assert results.get_or_compute("key", lambda: pytest.fail("computed again")) is None


def test_two_lists_share_what_both_ask(pool: ThreadPoolExecutor, waiting: threading.Semaphore) -> None:
    """Each computes what it came to first, and neither waits before that is done."""
    results, gate = AnswerCache(10_000), Gate()
    computed: list[str] = []

    def slowly(keys: list[str]) -> Iterator[tuple[int, str]]:
        gate()
        for place, key in enumerate(keys):
            computed.append(key)
            yield place, key.upper()

    def quickly(keys: list[str]) -> Iterator[tuple[int, str]]:
        for place, key in reversed(list(enumerate(keys))):
            computed.append(key)
            yield place, key.upper()

    first = pool.submit(results.get_or_compute_many, ["a", "b", "c"], slowly)
    assert gate.begun.wait(PATIENCE)
    second = pool.submit(results.get_or_compute_many, ["c", "d", "a", "e", "d"], quickly)
    wait_for(waiting, 1)
    assert computed == ["e", "d"]
    gate.open.set()
    assert answer(first) == {"a": "A", "b": "B", "c": "C"}
    assert answer(second) == {"c": "C", "d": "D", "a": "A", "e": "E"}
    assert sorted(computed) == ["a", "b", "c", "d", "e"]


def test_who_waits_for_a_list_that_fails_is_on_its_own(pool: ThreadPoolExecutor, waiting: threading.Semaphore) -> None:
    """The failure may be about another of the list; what was done before it stays."""
    results, gate = AnswerCache(10_000), Gate(failure=ValueError("about b"))

    def failing(keys: list[str]) -> Iterator[tuple[int, str]]:
        yield 0, keys[0].upper()
        gate()

    future = pool.submit(results.get_or_compute_many, ["a", "b", "c"], failing)
    assert gate.begun.wait(PATIENCE)
    assert results.get("a") == "A"
    alone = pool.submit(results.get_or_compute, "c", lambda: "my c")
    listed = pool.submit(results.get_or_compute_many, ["b", "a"], lambda keys: enumerate(f"my {key}" for key in keys))
    wait_for(waiting, 2)
    gate.open.set()
    with pytest.raises(ValueError, match="about b"):
        answer(future)
    assert answer(alone) == "my c"
    assert answer(listed) == {"a": "A", "b": "my b"}


class _Calls:
    """What the question below waits for, told apart by its text: a question is plain data."""

    gates: dict[str, Gate]


@dataclass(frozen=True, slots=True)
class _Slow(Question[str]):
    model: str
    text: str

    def answer(self, loaded: Any) -> str:  # noqa: ARG002
        return str(_Calls.gates[self.text]())


def test_an_engine_answers_a_question_once(
    pool: ThreadPoolExecutor, waiting: threading.Semaphore, checkpoint: Checkpoint
) -> None:
    """A question of another room, which the engine has never heard of."""
    engine, model = Engine("cpu"), str(checkpoint("bert"))
    engine.info(model)
    gate, quick = Gate("slow"), Gate("quick")
    _Calls.gates = {"slow": gate, "quick": quick}
    quick.open.set()
    futures = [pool.submit(engine.ask, _Slow(model, "slow"))]
    assert gate.begun.wait(PATIENCE)
    futures += [pool.submit(engine.ask, _Slow(model, "slow")) for _ in range(3)]
    futures.append(pool.submit(lambda: engine.ask_all([_Slow(model, "slow"), _Slow(model, "quick")])[0]))
    wait_for(waiting, 4)
    assert engine.ask(_Slow(model, "quick")) == "quick"
    assert engine.held()[0].in_use
    engine.close()  # what is under way goes on
    gate.open.set()
    assert [answer(future) for future in futures] == ["slow"] * 5
    assert (gate.n_calls, quick.n_calls) == (1, 1)
    assert engine._results.values() == []
    assert not engine.held()[0].in_use
