"""Which tests are quick, and that they are."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

MOST_SECONDS = 1.0
_NEVER_QUICK = ("slow", "browser", "gpu")
_CLUSTER = {"cluster", "clustered"}


def mark_quick(items: Sequence[pytest.Item]) -> None:
    """All are but those that say that they are slow, that drive a browser, and that ask a cluster."""
    for item in items:
        asks_a_cluster = _CLUSTER & set(getattr(item, "fixturenames", ())) or "clustered" in item.nodeid
        if not asks_a_cluster and not any(item.get_closest_marker(name) for name in _NEVER_QUICK):
            item.add_marker("quick")


@contextmanager
def held_quick(item: pytest.Item) -> Iterator[None]:
    """Fails a quick test that takes the processor, with the processes that it waits for, more than a second: on a busy
    machine the clock says nothing.
    """
    before = _processor_seconds()
    yield
    took = _processor_seconds() - before
    if took > MOST_SECONDS and item.get_closest_marker("quick"):
        pytest.fail(f"{took:.1f} s of the processor: a test of more than {MOST_SECONDS:g} s is to be marked slow.")


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
