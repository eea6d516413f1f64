"""The one engine of the process, shared by every visitor."""

from __future__ import annotations

import threading
from contextlib import suppress

import streamlit as st

from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.errors import ModelZooError
from ui import garbage
from ui.nodelay import nodelay


@st.cache_resource(on_release=Engine.close, show_spinner=False)
def engine() -> Engine:
    """The engine; models and results are cached inside it. Nothing is downloaded before a visitor agrees."""
    return Engine(ask_before_download=True)


@st.cache_resource(show_spinner=False)
def warm_up() -> threading.Thread:
    """Load torch and the default model beside the first page, so that the first picture comes sooner."""

    def load() -> None:
        with suppress(ModelZooError):  # the page that needs the model says why it cannot be had
            engine_.info(DEFAULT_MODEL)
        garbage.settle()

    engine_ = engine()
    nodelay()
    garbage.watch()
    thread = threading.Thread(target=load, name="warm-up", daemon=True)
    thread.start()
    return thread
