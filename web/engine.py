"""The one engine of the process, shared by every visitor: its own, or the way to a cluster that holds the models."""

from __future__ import annotations

import threading
from contextlib import suppress

import model_zoo
from model_zoo import DEFAULT_MODEL, tuned
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.types import MB
from serving.remote import RemoteEngine
from web import garbage
from web.nodelay import nodelay
from web.process import process_cache
from web.settings import LOCAL, settings


@process_cache()
def engine() -> EngineInterface:
    """The engine; models and results are cached inside it. Nothing is downloaded before a visitor agrees."""
    limits = settings()
    tuned.begin(limits.tuned_mb * MB)
    if limits.engine == LOCAL:
        return model_zoo.Engine(**limits.arguments(), on_change=garbage.collect_soon, ask_before_download=True)
    return RemoteEngine(limits.engine, limits.engine_token, result_bytes=limits.result_memory_mb * MB)


def cluster() -> RemoteEngine | None:
    """The way to the cluster, where models are on one."""
    engine_ = engine()
    return engine_ if isinstance(engine_, RemoteEngine) else None


@process_cache()
def warm_up() -> threading.Thread:
    """Load torch and the default model beside the first page, so that the first picture comes sooner."""

    def load() -> None:
        with suppress(ModelZooError):  # the page that needs the model says why it cannot be had
            engine_.info(DEFAULT_MODEL)

    engine_ = engine()
    nodelay()
    garbage.watch()
    thread = threading.Thread(target=load, name="warm-up", daemon=True)
    thread.start()
    return thread
