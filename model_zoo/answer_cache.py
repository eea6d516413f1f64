"""One memory of answers a process: a byte budget, least recently used out first, equal questions computed once.

Knows nothing of torch or of models: what a key stands for and how it is computed comes in from outside.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from cachetools import LRUCache

from model_zoo.fair_queue import outcome
from model_zoo.types import OF_THE_MODEL

Compute = Callable[[list[Any]], Iterator[tuple[int, Any]]]
"""From keys to (place of the key, result), in any order."""

NOTHING = object()
"""Stands for a result where there is none: None may be one."""


class AnswerCache:
    """Keeps results within ``budget`` bytes and computes each once, however many threads ask at the same moment.

    A failure is not remembered. No thread waits for a result while holding the lock.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._lock = threading.Lock()
        self._kept: LRUCache[Hashable, tuple[Any, int]] = LRUCache(budget, getsizeof=lambda entry: entry[1])
        self._under_way: dict[Hashable, Future[Any]] = {}

    @property
    def n_bytes(self) -> int:
        """What the results kept take together, in bytes; never above the budget."""
        with self._lock:
            return int(self._kept.currsize)

    def __len__(self) -> int:
        return len(self._kept)

    def values(self) -> list[Any]:
        """The results kept, in no particular order."""
        with self._lock:
            return [result for result, _ in self._kept.values()]

    def get(self, key: Hashable) -> Any:
        """The result of a key if it is kept, else NOTHING. Waits for nobody."""
        with self._lock:
            return self._kept.get(key, (NOTHING, 0))[0]

    def keep(self, key: Hashable, result: Any) -> None:
        """Keep a result that was computed outside."""
        n_bytes = size_of(result)
        with self._lock:
            self._keep(key, result, n_bytes)

    def get_or_compute(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The result of one key: kept, being computed by another thread, or computed now.

        What computing it raises reaches every thread that waits for it.
        """
        while True:
            with self._lock:
                if key in self._kept:
                    return self._kept[key][0]
                future = self._under_way.get(key)
                if future is None:
                    mine = self._under_way[key] = Future()
                    break
            result = outcome(future)
            if result is not NOTHING:
                return result
        with self._computing({key: mine}, alone=True) as finish:
            result = compute()
            finish(key, result)
        return result

    def get_or_compute_many(self, keys: Sequence[Hashable], compute: Compute) -> dict[Any, Any]:
        """The results of several keys; those that nobody has or computes are computed by one call of ``compute``.

        Each is kept, and handed to the waiting threads, as soon as it is done. Where one fails, threads that wait for
        the others compute them for themselves.
        """
        results: dict[Any, Any] = {}
        while missing := [key for key in dict.fromkeys(keys) if key not in results]:
            mine: dict[Any, Future[Any]] = {}
            theirs: dict[Any, Future[Any]] = {}
            with self._lock:
                for key in missing:
                    if key in self._kept:
                        results[key] = self._kept[key][0]
                    elif key in self._under_way:
                        theirs[key] = self._under_way[key]
                    else:
                        mine[key] = self._under_way[key] = Future()
            # One's own first: who waited for others before that could wait for somebody who waits for oneself.
            if mine:
                with self._computing(mine, alone=len(keys) == 1) as finish:
                    own_keys = list(mine)
                    for place, result in compute(own_keys):
                        results[own_keys[place]] = result
                        finish(own_keys[place], result)
            for key, future in theirs.items():
                try:
                    result = outcome(future)
                except Exception:
                    if len(keys) == 1:
                        raise
                    continue  # computed here, so that the failure tells which of these keys it is about
                if result is not NOTHING:
                    results[key] = result
        return results

    @contextmanager
    def _computing(self, mine: dict[Any, Future[Any]], *, alone: bool) -> Iterator[Callable[[Any, Any], None]]:
        """Compute keys that this thread has taken on, inside the block: it gives a function that takes each result.
        Whatever happens, nobody is left waiting; a failure is handed on where the key was asked for ``alone``.
        """
        finished: set[Any] = set()
        failure: Exception | None = None

        def finish(key: Any, result: Any) -> None:
            n_bytes = size_of(result)
            with self._lock:
                if self._under_way.get(key) is mine[key]:  # else all was forgotten in the meantime
                    del self._under_way[key]
                    self._keep(key, result, n_bytes)
            finished.add(key)
            mine[key].set_result(result)

        try:
            yield finish
        except Exception as error:
            failure = error
            raise
        finally:
            for key, future in mine.items():
                if key in finished:
                    continue
                with self._lock:
                    if self._under_way.get(key) is future:
                        del self._under_way[key]
                if alone and failure is not None:
                    future.set_exception(failure)
                else:
                    future.set_result(NOTHING)

    def _keep(self, key: Hashable, result: Any, n_bytes: int) -> None:
        """Keep a result; the caller holds the lock."""
        # ValueError: a result larger than the whole memory for results is handed out, not kept.
        with suppress(ValueError):
            self._kept[key] = result, n_bytes

    def clear(self) -> None:
        """Forget everything; what is being computed is handed to those who wait for it and not kept."""
        with self._lock:
            self._kept.clear()
            self._under_way.clear()


def size_of(result: object) -> int:
    """The bytes that a result keeps alive, each object once.

    Counts dataclasses, containers, strings and numbers, and arrays by the memory they are a view of, torch's included.
    Fields that are marked as ``OF_THE_MODEL`` count with the model: its weights, which all its results share. A result
    that stays after its model has left keeps them alive, once for all of that model's results.
    """
    seen: set[int] = set()
    buffers: set[int] = set()
    waiting: list[Any] = [result]
    total = 0
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            total += _buffer(value, buffers)
            continue
        total += sys.getsizeof(value)
        if isinstance(value, tuple | list | set | frozenset):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.keys())
            waiting.extend(value.values())
        elif dataclasses.is_dataclass(value):
            waiting.extend(
                getattr(value, field.name) for field in dataclasses.fields(value) if OF_THE_MODEL not in field.metadata
            )
    return total


def _buffer(array: np.ndarray, counted: set[int]) -> int:
    """The bytes of the memory that an array lies in, 0 where it was counted before."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    if isinstance(owner, np.ndarray):
        place, n_bytes = owner.__array_interface__["data"][0], owner.nbytes
    elif hasattr(owner, "untyped_storage"):  # a tensor, without importing torch
        storage = owner.untyped_storage()
        place, n_bytes = storage.data_ptr(), storage.nbytes()
    else:
        place, n_bytes = array.__array_interface__["data"][0], array.nbytes
    if place in counted:
        return 0
    counted.add(place)
    return int(n_bytes)
