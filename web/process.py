"""What a process keeps for all of its visitors.

Not in Streamlit's caches: a message of Streamlit's own protocol, which anybody's browser can send, empties those.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import Final, TypeVar, cast

from cachetools import LRUCache, cached
from cachetools.keys import hashkey

Function = TypeVar("Function", bound=Callable[..., object])

_clears: Final[list[Callable[[], object]]] = []


def process_cache(most: int = 1, key: Callable[..., object] = hashkey) -> Callable[[Function], Function]:
    """Remembers what a function returned, for everybody, for the last ``most`` of its arguments, which ``key`` tells
    apart. Asked for by several threads at once, it is made once; what was raised is not remembered.
    """

    def decorate(function: Function) -> Function:
        remembered = cached(LRUCache(most), key=key, condition=Condition())(function)
        _clears.append(remembered.cache_clear)
        return cast(Function, remembered)

    return decorate


class Counter:
    """Counts since the app was started."""

    def __init__(self) -> None:
        self.n = 0


@process_cache()
def unforeseen() -> Counter:
    """How many failures visitors have seen that nobody foresaw."""
    return Counter()


def register_clear(clear: Callable[[], object]) -> None:
    """Has ``clear_all`` call what empties a cache of another kind."""
    _clears.append(clear)


def clear_all() -> None:
    """Everything that is kept, as if the process had just been started."""
    for clear in _clears:
        clear()
