"""What a process keeps for all of its visitors."""

import threading

import pytest
from patience import PATIENCE

from web import process


def test_what_many_ask_for_at_once_is_made_once() -> None:
    made: list[int] = []
    all_there = threading.Barrier(8)

    @process.process_cache()
    def thing() -> object:
        made.append(threading.get_ident())
        return object()

    things: list[object] = []

    def ask() -> None:
        all_there.wait(PATIENCE)
        things.append(thing())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(made) == 1
    assert len(things) == 8
    assert len(set(map(id, things))) == 1


def test_what_failed_is_tried_again() -> None:
    tries: list[int] = []

    @process.process_cache(most=2)
    def thing(number: int) -> int:
        tries.append(number)
        if len(tries) == 1:
            raise OSError("not yet")
        return number

    with pytest.raises(OSError, match="not yet"):
        thing(1)
    assert [thing(1), thing(1), thing(2)] == [1, 1, 2]
    assert tries == [1, 1, 2]


def test_the_last_few_are_remembered() -> None:
    made: list[str] = []

    @process.process_cache(most=2, key=lambda name, _more: name)
    def thing(name: str, more: list[int]) -> str:
        made.append(name)
        return f"{name}{more}"

    assert thing("a", [1]) == thing("a", [2]) == "a[1]"
    thing("b", [])
    thing("c", [])
    thing("a", [3])
    assert made == ["a", "b", "c", "a"]
