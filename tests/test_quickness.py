"""None of the quick tests asks a browser or a cluster."""

from __future__ import annotations

import pytest
from quickness import mark_quick


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
