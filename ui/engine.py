"""The one engine of the process, shared by every visitor."""

from __future__ import annotations

import threading
from contextlib import suppress

import streamlit as st

from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.errors import ModelZooError
from ui import garbage
from ui.nodelay import nodelay
from ui.settings import settings


@st.cache_resource(on_release=Engine.close, show_spinner=False)
def engine() -> Engine:
    """The engine; models and results are cached inside it. Nothing is downloaded before a visitor agrees."""
    limits = settings()
    return Engine(
        model_bytes=None if limits.model_memory_mb is None else limits.model_memory_mb * 2**20,
        result_bytes=limits.result_memory_mb * 2**20,
        process_bytes=limits.process_memory_mb * 2**20,
        runs=limits.runs,
        threads=limits.threads,
        batch=limits.batch,
        on_change=garbage.settle,
        ask_before_download=True,
        listed_only=not limits.any_model,
        download_bytes=None if limits.download_mb is None else limits.download_mb * 10**6,
    )


@st.cache_resource(show_spinner=False)
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
