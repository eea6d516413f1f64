"""One memory of models a process: a byte budget, least recently used out first, each model loaded once.

Knows nothing of torch: what a model is, how large it will be and how it is loaded comes in from outside.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from model_zoo.errors import NoRoomNow, OutOfMemory
from model_zoo.fair_queue import acquired, leaving_turns
from model_zoo.types import megabytes

_LONG_WORK: Final = 0.75
"""Of the budget all long work takes at most, beside each other: pages go on needing models."""


class Sized(Protocol):
    @property
    def n_bytes(self) -> int: ...


class Copy(Sized, Protocol):
    @property
    def full_precision(self) -> bool: ...


Model = TypeVar("Model", bound=Copy)
Source = TypeVar("Source", bound=Sized)


@dataclass(eq=False)
class _Slot(Generic[Model]):
    loading: threading.Lock = field(default_factory=threading.Lock)
    model: Model | None = None
    n_bytes: int = 0
    users: int = 0
    last_used: float = 0.0
    long_work: bool = False


@dataclass(frozen=True, slots=True)
class Held(Generic[Model]):
    """A model in memory, as ``ModelCache.held`` reports it."""

    model: Model
    n_bytes: int
    idle_seconds: float
    in_use: bool


class ModelCache(Generic[Source, Model]):
    """Keeps models within ``budget`` bytes. ``find`` says what a name stands for and how many bytes it will
    take, before anything is read; ``load`` reads it; both are told whether full precision is wanted. ``changed`` is
    called after a model has come or gone.
    """

    def __init__(
        self,
        budget: int,
        find: Callable[[str, bool], Source],
        load: Callable[[Source, bool], Model],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.budget = budget
        self._find = find
        self._load = load
        self._changed = changed
        self._lock = threading.Lock()
        self._slots: dict[tuple[str, bool], _Slot[Model]] = {}

    @contextmanager
    def lease(self, name: str, full_precision: bool = False) -> Iterator[Model]:
        """The model, loaded once however many threads ask, and kept in memory until the block ends. With
        ``full_precision`` it is a copy of its own, unless the usual one is held in it.
        """
        with self._lock:
            usual = self._slots.get((name, False))
            key = name, full_precision and not (usual and usual.model and usual.model.full_precision)
            slot = self._slots.setdefault(key, _Slot())
            slot.users += 1
            slot.last_used = time.monotonic()
        try:
            model = slot.model
            if model is None:
                acquired(slot.loading)
                try:
                    model = slot.model
                    if model is None:
                        with leaving_turns():
                            model = self._load_into(slot, *key)
                finally:
                    slot.loading.release()
            yield model
        finally:
            with self._lock:
                slot.users -= 1
                slot.last_used = time.monotonic()
                if slot.model is None and slot.users == 0 and self._slots.get(key) is slot:
                    del self._slots[key]

    @contextmanager
    def reserved(self, name: str, n_bytes: int, *, long: bool = False) -> Iterator[None]:
        """Bytes of the budget for work on a model, until the block ends. Raises OutOfMemory where too few are left, for
        ``long`` work also where what is left would be too little for others.
        """
        slot: _Slot[Model] = _Slot(users=1, long_work=long)
        purpose = f"Work on {name}"
        with self._lock:
            others = sum(other.n_bytes for other in self._slots.values() if other.long_work)
            if long and others and others + n_bytes > _LONG_WORK * self.budget:
                raise _no_room_now(purpose, n_bytes, "the models that others train")
            self._slots[f"{purpose} {id(slot)}", False] = slot
        try:
            self._make_room(slot, purpose, n_bytes)
            yield
        finally:
            with self._lock:
                self._slots = {key: kept for key, kept in self._slots.items() if kept is not slot}

    def _load_into(self, slot: _Slot[Model], name: str, full: bool) -> Model:
        source = self._find(name, full)
        self._make_room(slot, f"{name} in full precision" if full else name, source.n_bytes)
        try:
            model = self._load(source, full)
        except BaseException:
            slot.n_bytes = 0
            raise
        with self._lock:
            slot.model, slot.n_bytes = model, model.n_bytes
            self._evict(self._excess())  # what the files promised was an estimate
        self._changed()
        return model

    def refuse_if_too_large(self, name: str, n_bytes: int) -> None:
        """Raises OutOfMemory for a model that would find no room now. Reserves none, and forgets no model."""
        with self._lock:
            self._refuse_if_too_large(name, n_bytes)

    def _refuse_if_too_large(self, name: str, n_bytes: int) -> None:
        """As ``refuse_if_too_large``; the caller holds the lock."""
        if n_bytes > self.budget:
            raise OutOfMemory(
                f"{name} needs {megabytes(n_bytes)}, more than the {megabytes(self.budget)} this app may use for "
                "models. Choose a smaller model, or run the app on a machine with more memory."
            )
        if self._leaving(self._excess() + n_bytes) is None:
            raise _no_room_now(name, n_bytes, "the models in use")

    def _make_room(self, slot: _Slot[Model], name: str, n_bytes: int) -> None:
        """Reserve bytes for a model to be loaded; evict idle ones, the least recently used first."""
        with self._lock:
            self._refuse_if_too_large(name, n_bytes)
            self._evict(self._excess() + n_bytes)
            slot.n_bytes = n_bytes

    def _excess(self) -> int:
        """Bytes over the budget, loads in progress included; negative while there is room. Needs the lock."""
        return sum(slot.n_bytes for slot in self._slots.values()) - self.budget

    def _leaving(self, excess: int) -> list[_Slot[Model]] | None:
        """The idle models to forget until ``excess`` bytes are free; None if that would not do. Needs the lock."""
        idle = sorted((slot for slot in self._slots.values() if slot.users == 0), key=lambda slot: slot.last_used)
        leaving = []
        for slot in idle:
            if excess <= 0:
                break
            leaving.append(slot)
            excess -= slot.n_bytes
        return leaving if excess <= 0 else None

    def _evict(self, excess: int) -> None:
        """Forget idle models until ``excess`` bytes are free; none if that would not do. Needs the lock."""
        leaving = self._leaving(excess) or []
        self._slots = {name: slot for name, slot in self._slots.items() if slot not in leaving}

    def held(self) -> list[Held[Model]]:
        """What is in memory, most recently used first."""
        now = time.monotonic()
        with self._lock:
            models = [
                Held(slot.model, slot.n_bytes, max(0.0, now - slot.last_used), slot.users > 0)
                for slot in self._slots.values()
                if slot.model is not None
            ]
        return sorted(models, key=lambda held: held.idle_seconds)

    def forget(self, name: str) -> None:
        """Forget a model even while it is in use: whoever uses it keeps it until done, others load it anew."""
        with self._lock:
            known = [self._slots.pop((name, full), None) for full in (False, True)]
        if any(known):
            self._changed()

    def clear(self) -> None:
        """Forget every model that is not in use."""
        with self._lock:
            self._slots = {name: slot for name, slot in self._slots.items() if slot.users > 0}
        self._changed()


def _no_room_now(name: str, n_bytes: int, others: str) -> NoRoomNow:
    return NoRoomNow(
        f"{name} needs {megabytes(n_bytes)} and {others} leave no room for it. "
        "Wait until they are done and try again, or choose a smaller model."
    )
