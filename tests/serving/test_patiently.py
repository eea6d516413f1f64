"""A cluster on a busy machine: what Ray gives up too early is begun, or waited for, again."""

import sys
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from ray.exceptions import ActorDiedError

from serving.__main__ import _patiently, _start_node


def late(times: int, error: Exception) -> Any:
    """What fails so often before it is done; ``tries`` counts."""

    def act() -> None:
        act.tries += 1
        if act.tries <= times:
            raise error

    act.tries = 0
    return act


@pytest.mark.parametrize("error", [TimeoutError("Proxies not available after 60s."), ActorDiedError()])
def test_what_comes_late_is_waited_for_again_and_what_never_comes_is_said(error: Exception) -> None:
    act = late(2, error)
    _patiently(act)
    assert act.tries == 3
    act = late(9, error)
    with pytest.raises(type(error)) as raised:
        _patiently(act, times=4)
    assert raised.value is error
    assert act.tries == 4


def test_a_node_that_did_not_start_leaves_nothing_and_any_other_error_is_rays_own(monkeypatch) -> None:
    done: list[str] = []

    def init(**settings: Any) -> None:
        raise Exception(settings["says"])

    child = SimpleNamespace(kill=lambda: done.append("kill"))
    monkeypatch.setattr(psutil, "Process", lambda: SimpleNamespace(children=lambda **_all: [child] * 2))
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, shutdown=lambda: done.append("shutdown")))
    with pytest.raises(TimeoutError):
        _start_node({"says": "The current node timed out during startup. This could happen because …"})
    assert done == ["shutdown", "kill", "kill"]
    with pytest.raises(Exception, match="no such port") as other:
        _start_node({"says": "no such port"})
    assert not isinstance(other.value, TimeoutError)
    assert len(done) == 3
