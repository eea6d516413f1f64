"""The quick tests are quick, and none of them asks a browser or a cluster."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from quickness import MOST_SECONDS, held_quick, mark_quick


def work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("marked", ["quick", "slow"])
def test_a_quick_test_that_takes_longer_fails_and_a_slow_one_may(marked: str, request: pytest.FixtureRequest) -> None:
    item = pytest.Function.from_parent(request.node.parent, name="work", callobj=lambda: None)
    item.own_markers.clear()
    item.add_marker(marked)
    if marked == "slow":
        with held_quick(item):
            work(MOST_SECONDS + 0.1)
        return
    with held_quick(item):
        work(0.01)
    with pytest.raises(pytest.fail.Exception, match="marked slow"), held_quick(item):
        work(MOST_SECONDS + 0.1)


@pytest.mark.slow
def test_what_a_process_takes_counts(request: pytest.FixtureRequest) -> None:
    item = pytest.Function.from_parent(request.node.parent, name="work", callobj=lambda: None)
    item.add_marker("quick")
    busy = f"import time\nwhile time.process_time() < {MOST_SECONDS + 0.2}: pass"
    with pytest.raises(pytest.fail.Exception, match="marked slow"), held_quick(item):
        subprocess.run([sys.executable, "-I", "-c", busy], check=True)


@pytest.mark.parametrize("name", ["slow", "browser", "gpu", None])
def test_what_is_quick(name: str | None, request: pytest.FixtureRequest) -> None:
    item = pytest.Function.from_parent(request.node.parent, name="work", callobj=lambda: None)
    if name is not None:
        item.add_marker(name)
    mark_quick([item])
    assert (item.get_closest_marker("quick") is not None) == (name is None)


def test_who_asks_a_cluster_is_not_quick(request: pytest.FixtureRequest) -> None:
    item = pytest.Function.from_parent(request.node.parent, name="test[clustered]", callobj=lambda: None)
    mark_quick([item])
    assert item.get_closest_marker("quick") is None
