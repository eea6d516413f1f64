"""Garbage collection that looks at what scripts leave behind, not at the whole program after every action.

Streamlit runs a full collection after every script, which holds the interpreter for everybody: some 0.2 s with torch
and transformers in memory. What is frozen (``gc.freeze``) it does not look at. Frozen objects are freed as ever when
nothing refers to them any more; only those that refer to each other in a circle stay. So what is frozen is thawed now
and then, collected and frozen again: when a model was loaded or forgotten, when much was frozen since, and every few
minutes if anything was. Models have no such circles, so that their memory is free at once.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Final

from model_zoo.allocator import give_back

_log = logging.getLogger(__name__)

LONG: Final = 0.02
"""Seconds of a full collection after which what it left is frozen."""

GROWN: Final = 250_000
"""Objects that may be frozen since the last thorough collection before there is another."""

_EVERY: Final = 600.0  # seconds between thorough collections where anything was frozen meanwhile
_TRIM_EVERY: Final = 3.0  # seconds after which freed memory goes back to the system
_QUIET: Final = 1.0  # seconds without the end of a script that are a lull
_LONGEST_WAIT: Final = 30.0  # seconds after which a lull is not waited for any more


@dataclass(slots=True)
class _State:
    """The state of the one collector that a process has, written with the interpreter held, from any thread."""

    began: float = 0.0
    ended: float = 0.0  # when the last full collection was over, with which every script ends; 0 before the first
    collecting: bool = False
    frozen: int = 0  # objects since the last thorough collection, gone or not


_state = _State()
_collecting = threading.Lock()
# Its put can be called while another one is under way, as it may be in the midst of a collection.
_wanted: SimpleQueue[None] = SimpleQueue()


def watch() -> None:
    """From now on freeze what long collections leave, and collect thoroughly when ``collect_soon`` asks for it."""
    if _after not in gc.callbacks:
        gc.callbacks.append(_after)
        threading.Thread(target=_collect_when_wanted, name="garbage", daemon=True).start()


def collect_soon() -> None:
    """Ask for a thorough collection in the next lull; returns at once. For whoever loaded or forgot a model."""
    _wanted.put(None)


def collect_now() -> float:
    """Collect everything that is garbage, frozen or not, and freeze what is left; returns the seconds that took, in
    which no other thread ran. What was freed goes back to the system, the weights of a forgotten model among it.
    """
    with _collecting:
        began = time.perf_counter()
        _state.collecting = True
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        _state.collecting = False
        _state.frozen = 0
        took = time.perf_counter() - began
    give_back()
    return took


def lull(longest: float = _LONGEST_WAIT) -> bool:
    """Wait until no script has ended for a second, ``longest`` seconds at most; whether there was such a time."""
    end = time.monotonic() + longest
    while (now := time.monotonic()) < end:
        since = now - _state.ended if _state.ended else 0.0
        if since >= _QUIET:
            return True
        time.sleep(min(_QUIET - since, end - now))
    return False


def _after(phase: str, info: dict[str, Any]) -> None:
    """What the collector calls at the start and at the end of a collection, in the thread that it runs in."""
    if info["generation"] < 2 or _state.collecting:
        return
    if phase == "start":
        _state.began = time.perf_counter()
        return
    _state.ended = time.monotonic()
    if time.perf_counter() - _state.began > LONG:
        _state.frozen += len(gc.get_objects(generation=2))  # where a full collection leaves what it does not free
        gc.freeze()
        if _state.frozen > GROWN:
            collect_soon()


def _collect_when_wanted() -> None:
    last = time.monotonic()
    while True:
        try:
            _wanted.get(timeout=_TRIM_EVERY)
        except Empty:
            give_back()
            if not _state.frozen or time.monotonic() - last < _EVERY:
                continue
        lull()
        while not _wanted.empty():  # asked for meanwhile, and served now
            _wanted.get()
        _log.debug("A thorough collection took %.0f ms", 1000 * collect_now())
        last = time.monotonic()
