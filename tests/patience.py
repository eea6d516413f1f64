"""How long tests wait for what comes at once: one number for all of them, so that no test fails on a slow machine."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

PATIENCE = 240.0  # seconds after which a test says that what should have come never comes; nothing is measured by it

Found = TypeVar("Found")


def until(holds: Callable[[], Found], every: float = 0.02, patience: float = PATIENCE, why: object = "") -> Found:
    """What ``holds`` gives as soon as that is true; asked again and again. A failure says ``why``, or what that gives
    where it can be called, such as a log.
    """
    end, pause = time.monotonic() + patience, threading.Event()
    while not (value := holds()):
        if time.monotonic() > end:
            name = getattr(holds, "__qualname__", holds)
            pytest.fail(f"{name} never came true. {why() if callable(why) else why}".rstrip())
        pause.wait(every)
    return value
