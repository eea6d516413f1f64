"""Which tests are quick."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

_NEVER_QUICK = ("slow", "browser", "gpu")
_CLUSTER = {"cluster", "clustered"}


def mark_quick(items: Sequence[pytest.Item]) -> None:
    """All are but those that say that they are slow, that drive a browser, and that ask a cluster."""
    for item in items:
        asks_a_cluster = _CLUSTER & set(getattr(item, "fixturenames", ())) or "clustered" in item.nodeid
        if not asks_a_cluster and not any(item.get_closest_marker(name) for name in _NEVER_QUICK):
            item.add_marker("quick")
