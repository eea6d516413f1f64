"""The memory of models: one load a model, a byte budget, the least recently used out first."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from patience import PATIENCE

from model_zoo.errors import OutOfMemory
from model_zoo.model_cache import ModelCache


@dataclass(frozen=True, eq=False)
class Thing:
    """Source and model in one: a name and a size."""

    name: str
    n_bytes: int


class Shelf:
    """A fake world of models: sizes by name, a list of what was loaded, and a gate that holds loads back."""

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.loads: list[str] = []
        self.broken: set[str] = set()
        self.gates: dict[str, threading.Event] = {}
        self.started: dict[str, threading.Event] = {}

    def find(self, name: str, full_precision: bool = False) -> Thing:  # noqa: ARG002
        return Thing(name, self.sizes[name])

    def load(self, source: Thing, full_precision: bool = False) -> Thing:  # noqa: ARG002
        self.loads.append(source.name)
        if source.name in self.started:
            self.started[source.name].set()
        if source.name in self.gates:
            assert self.gates[source.name].wait(PATIENCE)
        if source.name in self.broken:
            raise RuntimeError(f"{source.name} is broken")
        return Thing(source.name, source.n_bytes)

    def hold_back(self, name: str) -> Callable[[], None]:
        """Loads of ``name`` wait until the returned function is called."""
        self.gates[name], self.started[name] = threading.Event(), threading.Event()
        return self.gates[name].set

    def memory(self, budget: int) -> ModelCache[Thing, Thing]:
        return ModelCache(budget, self.find, self.load)


def use(memory: ModelCache[Thing, Thing], *names: str) -> None:
    for name in names:
        with memory.lease(name) as model:
            assert model.name == name


def names(memory: ModelCache[Thing, Thing]) -> list[str]:
    return [held.model.name for held in memory.held()]


def test_thirty_two_threads_load_a_model_once() -> None:
    shelf = Shelf(a=10, b=10)
    memory = shelf.memory(100)
    together = threading.Barrier(32)

    def lease(i: int) -> Thing:
        together.wait(PATIENCE)
        with memory.lease("ab"[i % 2]) as model:
            return model

    with ThreadPoolExecutor(32) as pool:
        models = list(pool.map(lease, range(32)))
    assert sorted(shelf.loads) == ["a", "b"]
    assert {id(model) for model in models[::2]} == {id(models[0])}
    assert {id(model) for model in models[1::2]} == {id(models[1])}
    assert all(not held.in_use for held in memory.held())


def test_one_load_does_not_hold_up_another_model() -> None:
    shelf = Shelf(slow=10, quick=10)
    memory = shelf.memory(100)
    release = shelf.hold_back("slow")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(use, memory, "slow")
        assert shelf.started["slow"].wait(PATIENCE)
        use(memory, "quick")
        assert names(memory) == ["quick"]
        release()
        waiting.result(PATIENCE)
    assert set(names(memory)) == {"slow", "quick"}


def test_the_least_recently_used_leaves() -> None:
    shelf = Shelf(a=40, b=40, c=40)
    memory = shelf.memory(100)
    use(memory, "a", "b", "a", "c")
    assert names(memory) == ["c", "a"]
    use(memory, "b")
    assert names(memory) == ["b", "c"]
    assert shelf.loads == ["a", "b", "c", "b"]
    shelf = Shelf(a=20, b=20, c=20, d=20, large=70)
    memory = shelf.memory(100)
    use(memory, "a", "b", "c", "d", "large")
    assert names(memory) == ["large", "d"]  # only as many leave as must


def test_what_is_in_use_stays() -> None:
    shelf = Shelf(old=40, young=40, new=40)
    memory = shelf.memory(100)
    with memory.lease("old"):
        use(memory, "young", "new")
        assert set(names(memory)) == {"old", "new"}
        with (
            memory.lease("new"),
            pytest.raises(OutOfMemory, match=r"the models in use leave no room.*Wait until they are done"),
            memory.lease("young"),
        ):
            pass
        assert set(names(memory)) == {"old", "new"}
    use(memory, "young")
    assert names(memory) == ["young", "old"]  # "old" was let go last
    assert sum(held.n_bytes for held in memory.held()) <= 100


def test_too_large_is_refused_before_it_is_loaded() -> None:
    shelf = Shelf(small=40, huge=2_000_000_000)
    memory = shelf.memory(1_000_000_000)
    use(memory, "small")
    with pytest.raises(OutOfMemory, match=r"^huge needs 2,000 MB, more than the 1,000 MB"):
        use(memory, "huge")
    assert shelf.loads == ["small"]
    assert names(memory) == ["small"]


def test_a_failed_load_leaves_nothing_behind() -> None:
    shelf = Shelf(a=60, b=60)
    memory = shelf.memory(100)
    shelf.broken = {"a"}
    for name, error in (("a", RuntimeError), ("a", RuntimeError), ("nobody", KeyError)):
        with pytest.raises(error):
            use(memory, name)
        assert memory.held() == []
        assert memory._slots == {}
    use(memory, "b")  # the room that was kept for a is free again
    shelf.broken = set()
    use(memory, "a")
    assert names(memory) == ["a"]
    assert shelf.loads == ["a", "a", "b", "a"]


def test_those_who_waited_for_a_failed_load_try_themselves() -> None:
    shelf = Shelf(a=10)
    memory = shelf.memory(100)
    shelf.broken = {"a"}
    release = shelf.hold_back("a")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(use, memory, "a")
        assert shelf.started["a"].wait(PATIENCE)
        second = pool.submit(use, memory, "a")
        release()
        for attempt in (first, second):
            assert isinstance(attempt.exception(PATIENCE), RuntimeError)
    assert shelf.loads == ["a", "a"]
    assert memory._slots == {}


def test_a_load_in_progress_counts() -> None:
    """Two models that do not fit together: the second is refused while the first is still being read."""
    shelf = Shelf(a=60, b=60, c=40)
    memory = shelf.memory(100)
    release = shelf.hold_back("a")
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(use, memory, "a")
        assert shelf.started["a"].wait(PATIENCE)
        assert memory.held() == []
        with pytest.raises(OutOfMemory, match=r"^b needs 0.0 MB and the models in use leave no room"):
            use(memory, "b")
        use(memory, "c")
        assert names(memory) == ["c"]
        release()
        loading.result(PATIENCE)
    assert shelf.loads == ["a", "c"]
    assert sum(held.n_bytes for held in memory.held()) == 100
    use(memory, "b")
    assert shelf.loads[-1] == "b"


def test_room_is_made_again_when_a_model_is_larger_than_it_seemed() -> None:
    """What a file promises is an estimate; the budget holds for what was really loaded."""
    shelf = Shelf(a=30, b=30, c=30)
    memory: ModelCache[Thing, Thing] = ModelCache(
        100, shelf.find, lambda source, _: Thing(source.name, 45 if source.name == "c" else source.n_bytes)
    )
    use(memory, "a", "b", "c")
    assert names(memory) == ["c", "b"]
    assert sum(held.n_bytes for held in memory.held()) == 75


def test_figures_of_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("model_zoo.model_cache.time.monotonic", lambda: clock[0])
    shelf = Shelf(a=40, b=30)
    memory = shelf.memory(100)
    use(memory, "a")
    clock[0] = 107.0
    with memory.lease("b"):
        clock[0] = 109.5
        b, a = memory.held()
        assert (a.model.name, a.n_bytes, a.idle_seconds, a.in_use) == ("a", 40, 9.5, False)
        assert (b.model.name, b.n_bytes, b.in_use) == ("b", 30, True)
        clock[0] = 120.0
    assert [held.idle_seconds for held in memory.held()] == [0.0, 20.0]
    assert not memory.held()[0].in_use


def test_clear_keeps_what_is_in_use() -> None:
    shelf = Shelf(a=10, b=10)
    memory = shelf.memory(100)
    use(memory, "b")
    with memory.lease("a") as model:
        memory.clear()
        assert names(memory) == ["a"]
        with memory.lease("a") as again:
            assert again is model
    memory.clear()
    assert memory.held() == []
    use(memory, "a")
    assert shelf.loads == ["b", "a", "a"]


def test_many_threads_within_the_budget() -> None:
    """Forty rounds of ten models through room for three, with as many threads at a time as always fit."""
    shelf = Shelf(**{f"m{i}": 30 for i in range(10)})
    memory = shelf.memory(100)

    def work(i: int) -> int:
        name = f"m{i * 7 % 10}"
        with memory.lease(name) as model:
            assert model.name == name
            held = {other.model.name: other for other in memory.held()}
            assert held[name].in_use
            return sum(other.n_bytes for other in held.values())

    with ThreadPoolExecutor(3) as pool:
        assert max(pool.map(work, range(400))) <= 100
    assert set(shelf.loads) == set(shelf.sizes)
